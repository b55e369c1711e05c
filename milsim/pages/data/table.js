// The table of all hands, and the answer about a hand, without the page. The format is that of
// milsim/tables/compact.py and the answer that of milsim.hand(…, seconds=0): the same numbers.
"use strict";

const cards = (() => {
  const N_CARDS = 24, N_RANKS = 6, N_SUITS = 4, HAND_CARDS = 7, N_HANDS = 346104, N_TALONS = 680;
  const NINE = 0, JACK = 1, QUEEN = 2, KING = 3, TEN = 4, ACE = 5;
  const PRINTED_SUITS = [0, 3, 2, 1]; // spades, hearts, diamonds, clubs
  const RANK_LETTERS = "9JQKTA", SUIT_LETTERS = "SCDH";

  const choose = Array.from({ length: N_CARDS + 1 }, () => new Array(HAND_CARDS + 2).fill(0));
  for (let n = 0; n <= N_CARDS; n++) {
    choose[n][0] = 1;
    for (let k = 1; k <= Math.min(n, HAND_CARDS + 1); k++) {
      choose[n][k] = choose[n - 1][k - 1] + choose[n - 1][k];
    }
  }

  function count(mask) {
    let n = 0;
    for (; mask; mask &= mask - 1) n++;
    return n;
  }

  function of(mask) {
    const found = [];
    for (let card = 0; card < N_CARDS; card++) if (mask >> card & 1) found.push(card);
    return found;
  }

  // The colexicographic rank of a hand of seven: the sum of C(card, place).
  function rankOf(mask) {
    let rank = 0, place = 0;
    for (let card = 0; card < N_CARDS; card++) {
      if (mask >> card & 1) rank += choose[card][++place];
    }
    return rank;
  }

  function handAt(rank) {
    let mask = 0, card = N_CARDS;
    for (let place = HAND_CARDS; place > 0; place--) {
      do card--; while (choose[card][place] > rank);
      rank -= choose[card][place];
      mask |= 1 << card;
    }
    return mask;
  }

  // All hands by rank, which is the order of their masks as numbers.
  function allHands() {
    const found = new Uint32Array(N_HANDS);
    let mask = (1 << HAND_CARDS) - 1;
    for (let rank = 0; rank < N_HANDS; rank++) {
      found[rank] = mask;
      const low = mask & -mask, ripple = mask + low;
      mask = ripple | ((mask ^ ripple) >>> 2) / low;
    }
    return found;
  }

  function format(mask) {
    const suits = PRINTED_SUITS.map((suit) => {
      let text = "";
      for (let rank = ACE; rank >= NINE; rank--) {
        if (mask >> (N_RANKS * suit + rank) & 1) text += RANK_LETTERS[rank];
      }
      return text;
    });
    return suits.join(".");
  }

  // A hand as AKQ.T9.J.A, or cards as AS KS 10H; an Error with a sentence for anything else.
  // `letters` are the rank letters of the chosen language, read where there are no suit letters.
  function parse(text, letters = []) {
    const signs = new Map();
    [...RANK_LETTERS].forEach((sign, rank) => signs.set(sign, rank));
    const english = new Map(signs);
    letters.forEach((sign, rank) => sign.length === 1 && signs.set(sign, rank));
    const clean = text.trim().toUpperCase().replace(/10/g, "T");
    let mask = 0;
    const add = (suit, rank, shown) => {
      if (suit === undefined || suit < 0 || rank === undefined) {
        throw new Error(`“${shown}” is no card. Write AKQ.T9.J.A or AS KS QS.`);
      }
      const bit = 1 << (N_RANKS * suit + rank);
      if (mask & bit) throw new Error(`“${shown}” is there twice.`);
      mask |= bit;
    };
    if (clean.includes(".")) {
      const suits = clean.split(".");
      if (suits.length !== N_SUITS) {
        throw new Error("Write four suits with three dots between: spades.hearts.diamonds.clubs");
      }
      suits.forEach((ranks, place) => {
        for (const sign of ranks.trim().replace(/^-$/, "")) {
          add(PRINTED_SUITS[place], signs.get(sign), sign);
        }
      });
    } else {
      for (const word of clean.split(/[\s,]+/).filter(Boolean)) {
        const [first, second] = [word[0], word[1]];
        const suitLast = SUIT_LETTERS.includes(second ?? "?");
        const [rank, suit] = suitLast ? [first, second] : [second, first];
        add(word.length === 2 ? SUIT_LETTERS.indexOf(suit) : -1, english.get(rank), word);
      }
    }
    return mask;
  }

  function marriagesOf(mask) {
    let suits = 0;
    for (let suit = 0; suit < N_SUITS; suit++) {
      if ((mask >> (N_RANKS * suit + QUEEN) & 3) === 3) suits |= 1 << suit;
    }
    return suits;
  }

  // Marriages, aces and guarded tens: the class for what passing earns.
  function classOf(mask) {
    let aces = 0, tens = 0;
    for (let suit = 0; suit < N_SUITS; suit++) {
      const held = mask >> (N_RANKS * suit) & 63;
      if (held >> ACE & 1) aces++;
      if (held >> TEN & 1 && held !== 1 << TEN) tens++;
    }
    return [count(marriagesOf(mask)), aces, tens].join();
  }

  return {
    N_CARDS, N_RANKS, N_SUITS, HAND_CARDS, N_HANDS, N_TALONS, NINE, JACK, QUEEN, KING, TEN, ACE,
    PRINTED_SUITS, SUIT_LETTERS, count, of, rankOf, handAt, allHands, format, parse, marriagesOf,
    classOf,
  };
})();

const statistics = (() => {
  const interval = (value, low, high) => ({ value, low, high });
  const UNKNOWN = interval(null, null, null);

  // Wilson's score interval of a proportion p of n.
  function wilson(p, n, z) {
    const shrink = 1 + z * z / n;
    const centre = (p + z * z / (2 * n)) / shrink;
    const half = z / shrink * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    const low = p === 0 ? 0 : Math.min(Math.max(centre - half, 0), p);
    const high = p === 1 ? 1 : Math.max(Math.min(centre + half, 1), p);
    return interval(p, low, high);
  }

  // As Python rounds: a half goes to the even neighbour.
  function roundHalfEven(x) {
    const floor = Math.floor(x), rest = x - floor;
    if (rest !== 0.5) return Math.round(x);
    return floor % 2 === 0 ? floor : floor + 1;
  }

  return { interval, UNKNOWN, wilson, roundHalfEven };
})();

class HandTable {
  static HEAD_PLANES = 4;

  // From the file's bytes: one line of JSON, then one zlib stream of planes.
  static async read(bytes, settings) {
    const end = bytes.indexOf(10);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
    const packed = new Blob([bytes.subarray(end + 1)]).stream();
    const unpacked = packed.pipeThrough(new DecompressionStream("deflate"));
    const planes = new Uint8Array(await new Response(unpacked).arrayBuffer());
    return new HandTable(header, planes, settings);
  }

  constructor(header, planes, settings) {
    const n = cards.N_HANDS;
    if (planes.length !== n * (HandTable.HEAD_PLANES + header.contracts.length)) {
      throw new Error("the table in this page is torn");
    }
    const plane = (i) => planes.subarray(i * n, (i + 1) * n);
    this.header = header;
    this.settings = settings;
    this.hands = cards.allHands();
    this.halves = Uint16Array.from(plane(0), (low, i) => low + 256 * planes[n + i]);
    this.spreads = plane(2);
    this.passing = plane(3);
    // Levels are stored as differences from the contract before.
    this.levels = header.contracts.map((_, i) => plane(HandTable.HEAD_PLANES + i).slice());
    for (let i = 1; i < this.levels.length; i++) {
      const [before, here] = [this.levels[i - 1], this.levels[i]];
      for (let hand = 0; hand < n; hand++) here[hand] += before[hand];
    }
    this.classes = new Map(header.passing.map((row) => [row.slice(0, 3).join(), row]));
    this.chances = Float64Array.from(
      { length: header.levels + 1 }, (_, q) => Math.sin(q * Math.PI / (2 * header.levels)) ** 2);
  }

  neverPasses(rank) {
    return this.passing[rank] === this.settings.never_passes;
  }

  // The share of all hands that are worth less, with half of those worth the same.
  percentile(mean) {
    const halves = statistics.roundHalfEven(2 * mean);
    let below = 0, same = 0;
    for (const each of this.halves) {
      if (each < halves) below++;
      else if (each === halves) same++;
    }
    return (below + same / 2) / cards.N_HANDS;
  }

  // Ranks of all hands that hold these cards.
  ranksOf(mask) {
    if (cards.count(mask) === cards.HAND_CARDS) return [cards.rankOf(mask)];
    const found = [];
    this.hands.forEach((hand, rank) => (hand & mask) === mask && found.push(rank));
    return found;
  }

  // The answer of milsim.hand, in the shape of HandAnswer.to_dict(); led by a model that the table
  // is corrected to (models.js), or by its own policy.
  answer(mask, by = this.header.policy) {
    const ranks = this.ranksOf(mask);
    const policy = this.estimate(ranks);
    const model = by === policy.model ? policy : this.corrections.estimate(by, ranks);
    const passing = this.passingOf(ranks);
    const highest = this.settings.caps[cards.marriagesOf(mask)];
    let bid = null;
    for (const { contract, score } of model.contracts) {
      if (passing.value !== null && contract <= highest && score.value >= passing.value) {
        bid = contract;
      }
    }
    return {
      cards: cards.format(mask),
      hands: ranks.length,
      percentile: this.percentile(policy.points.value),
      model,
      passing,
      highest_allowed: highest,
      bid_up_to: bid,
      talon: ranks.length === 1 ? talonChances(mask) : null,
    };
  }

  estimate(ranks) {
    const { z, quantised, contracts } = this.settings;
    const deals = this.header.deals * ranks.length;
    let halves = 0, squares = 0;
    for (const rank of ranks) {
      halves += this.halves[rank];
      squares += this.spreads[rank] ** 2;
    }
    const mean = halves / 2 / ranks.length;
    const error = Math.sqrt(squares / ranks.length / deals) + 0.25 / Math.sqrt(3 * ranks.length);
    const chances = new Map(this.header.contracts.map((contract, i) => {
      let sum = 0;
      for (const rank of ranks) sum += this.chances[this.levels[i][rank]];
      return [contract, sum / ranks.length];
    }));
    const rows = contracts.map((contract) => {
      const p = chances.get(contract) ?? 0;
      const sampled = statistics.wilson(p, deals, z);
      const off = 2 * quantised * Math.sqrt(p * (1 - p));
      const makes = statistics.interval(
        p, Math.max(0, sampled.low - off), Math.min(1, sampled.high + off));
      return this.scored(contract, makes, chances);
    });
    return this.shaped(this.header.policy, deals, mean, error, rows);
  }

  // A row of an estimate: a contract, the chance to make it, and what it scores.
  scored(contract, makes, chances) {
    // Where a made contract scores the points taken, what lies above it counts by steps.
    let more = 0;
    if (this.settings.success !== "contract") {
      for (const [value, q] of chances) if (value > contract) more += this.settings.step * q;
    }
    const score = (q) => contract * (2 * q - 1) + more;
    return { contract, makes,
      score: statistics.interval(score(makes.value), score(makes.low), score(makes.high)) };
  }

  shaped(model, deals, mean, error, rows) {
    const { z } = this.settings;
    const best = rows.reduce((a, b) => (b.score.value > a.score.value ? b : a));
    const points = statistics.interval(mean, mean - z * error, mean + z * error);
    return { model, deals, points, contracts: rows, best_contract: best.contract };
  }

  // What these hands earn by passing; unknown if none of them ever passes.
  passingOf(ranks) {
    let n = 0, sum = 0, single = 0;
    const counts = new Map();
    for (const rank of ranks) {
      if (this.neverPasses(rank)) continue;
      n++;
      sum += this.passing[rank] - this.settings.pass_zero;
      const key = cards.classOf(this.hands[rank]);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    if (n === 0) return statistics.UNKNOWN;
    let common = 0;
    for (const [key, many] of counts) {
      const [, , , , , error, , handError] = this.classes.get(key);
      single += many * handError ** 2;
      common += (many * error) ** 2;
    }
    const half = this.settings.z * Math.sqrt(single + common) / n;
    return statistics.interval(sum / n, sum / n - half, sum / n + half);
  }
}

// How many of the 680 talons bring a marriage, exactly: by suit, where the hand has half of it
// (completes) or none of it (brings), and any at all.
function talonChances(mask) {
  const unseen = cards.of(~mask & 0xffffff);
  const wanted = [];
  for (let suit = 0; suit < cards.N_SUITS; suit++) {
    const missing = 3 << (cards.N_RANKS * suit + cards.QUEEN) & ~mask;
    if (missing) wanted.push({ suit, missing, half: cards.count(missing) === 1, talons: 0 });
  }
  let any = 0;
  for (let i = 2; i < unseen.length; i++) {
    for (let j = 1; j < i; j++) {
      for (let k = 0; k < j; k++) {
        const talon = 1 << unseen[i] | 1 << unseen[j] | 1 << unseen[k];
        let hits = 0;
        for (const each of wanted) {
          if ((talon & each.missing) === each.missing) {
            each.talons++;
            hits++;
          }
        }
        if (hits) any++;
      }
    }
  }
  const by = (half) => Object.fromEntries(wanted
    .filter((each) => each.half === half)
    .map((each) => [cards.SUIT_LETTERS[each.suit], each.talons]));
  return { talons: cards.N_TALONS, completes: by(true), brings: by(false), any_marriage: any };
}
