// The table corrected to stronger models: the arithmetic of milsim/tables/corrections.py, hand by
// hand, for milsim.hand(…, models=["pimc"], seconds=0).
"use strict";

class Corrections {
  // `said`: features, hands and models of a file of corrections.
  constructor(said, table) {
    this.table = table;
    this.hands = said.hands;
    this.features = said.features;
    this.models = new Map(said.models.map((each) => [each.model, each]));
  }

  // What is known of a hand, in the order of FEATURES.
  featuresOf(rank) {
    const mask = this.table.hands[rank], values = this.table.settings.values;
    const level = (this.table.halves[rank] / 2 - 100) / 40;
    const spread = (this.table.spreads[rank] - 35) / 10;
    let worth = 0, marriages = 0, halves = 0, aces = 0, guarded = 0, kings = 0;
    for (let suit = 0; suit < cards.N_SUITS; suit++) {
      const held = mask >> (cards.N_RANKS * suit) & 63;
      const [king, queen] = [held >> cards.KING & 1, held >> cards.QUEEN & 1];
      if (king && queen) {
        marriages++;
        worth += values[suit];
      }
      halves += king ^ queen;
      kings += king;
      aces += held >> cards.ACE & 1;
      guarded += held >> cards.TEN & 1 && held !== 1 << cards.TEN ? 1 : 0;
    }
    const [married, bare] = [marriages > 0 ? 1 : 0, aces === 0 ? 1 : 0];
    return [1, level, level ** 2, spread, worth / 100, halves, aces, bare, guarded, kings, married,
      married * bare, spread ** 2, level * spread];
  }

  // Of hands of these ranks, averaged: the mean with its standard error, and by contract the chance
  // with its weight, in deals.
  known(name, ranks) {
    const { points, chances } = this.models.get(name);
    const { header, levels } = this.table, n = ranks.length;
    const rounded = this.table.settings.rounded;
    const size = this.features.length, weights = chances.coefficients;
    const [first, second] = [weights.slice(0, size), weights.slice(size, 2 * size)];
    const [third, fourth] = weights.slice(2 * size);
    const average = new Array(size).fill(0);
    const rows = header.contracts.map(() => (
      { sum: 0, room: 0, differ: 0, terms: new Float64Array(weights.length) }));
    const noise = 1 / header.deals + rounded.chance ** 2;
    const left = rounded.shared + (1 - rounded.shared) / n; // of what hands differ by
    let mean = 0, squares = 0, levels2 = 0;
    for (const rank of ranks) {
      const x = this.featuresOf(rank), level = this.table.halves[rank] / 2;
      x.forEach((each, i) => { average[i] += each / n; });
      mean += (level + dot(points.coefficients, x)) / n;
      squares += this.table.spreads[rank] ** 2 / n;
      levels2 += (level / 100) ** 2 / n;
      // What a chance p is moved by has p only in p(1 − p) and 1 − 2p: the sums over all that is
      // known of a hand are the same for all contracts.
      const plain = dot(first, x), tilted = dot(second, x), bent = third * x[0] + fourth * x[3];
      let above = 1;
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i], terms = row.terms, p = this.table.chances[levels[i][rank]];
        const room = p * (1 - p), odd = 1 - 2 * p;
        const moved = Math.min(Math.max(p + room * (plain + odd * (tilted + odd * bent)), 0), above);
        above = moved;
        row.sum += moved;
        row.room += moved * (1 - moved) / n;
        row.differ += chances.spread ** 2 * moved ** 2 * (1 - moved) / n;
        for (let k = 0; k < size; k++) {
          const each = room * x[k] / n;
          terms[k] += each;
          terms[size + k] += each * odd;
        }
        terms[2 * size] += room * odd ** 2 * x[0] / n;
        terms[2 * size + 1] += room * odd ** 2 * x[3] / n;
      }
    }
    const sampled = squares / header.deals + rounded.mean ** 2;
    const error = Math.sqrt(sampled / n + points.spread ** 2 * levels2 * left
      + quadratic(points.covariance, average));
    const found = rows.map((row, i) => {
      const p = row.sum / n, inside = p * (1 - p);
      const common = quadratic(chances.covariance, row.terms);
      const variance = row.room * noise / n + row.differ * left + common;
      const weight = inside > 0 ? inside / variance : n / noise;
      return [header.contracts[i], { p, weight }];
    });
    return { mean, error, chances: new Map(found) };
  }

  // The estimate in the shape of HandTable.estimate.
  estimate(name, ranks) {
    const { z, contracts } = this.table.settings;
    const { mean, error, chances } = this.known(name, ranks);
    const least = Math.min(...[...chances.values()].map((each) => each.weight));
    const all = new Map([...chances].map(([contract, { p }]) => [contract, p]));
    const rows = contracts.map((contract) => {
      const { p, weight } = chances.get(contract) ?? { p: 0, weight: least };
      return this.table.scored(contract, statistics.wilson(p, weight, z), all);
    });
    return this.table.shaped(name, this.table.header.deals * ranks.length, mean, error, rows);
  }
}

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

// x'Vx, of the lower half of V, row by row.
function quadratic(half, x) {
  let sum = 0, at = 0;
  for (let i = 0; i < x.length; i++) {
    for (let j = 0; j < i; j++) sum += 2 * half[at++] * x[i] * x[j];
    sum += half[at++] * x[i] * x[i];
  }
  return sum;
}
