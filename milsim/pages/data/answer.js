// What the page shows of an answer, and the small things for it. The numbers are of table.js.
"use strict";

const settings = JSON.parse(document.getElementById("settings").textContent);
const languages = JSON.parse(document.getElementById("words").textContent);
const state = { mode: "explore", mask: 0, quiz: 0, guess: null, language: languages[0],
  table: null, by: null, tally: { hands: 0, exact: 0, steps: 0 } };
const at = (id) => document.getElementById(id);

// -- small things --------------------------------------------------------------------------------

function element(name, attributes = {}, ...children) {
  const svg = ["svg", "use", "path", "line", "circle", "rect", "text", "g"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A suit's sign; read out by its English name.
function sign(suit) {
  const drawn = element("svg", { class: `suit s${suit}`, role: "img",
    "aria-label": languages[0].suits[suit], viewBox: "0 0 32 32" });
  drawn.append(element("use", { href: `#suit-${suit}` }));
  return drawn;
}

function cardName(card, language) {
  const [suit, rank] = [Math.floor(card / cards.N_RANKS), card % cards.N_RANKS];
  return language.card.replace("{rank}", language.ranks[rank])
    .replace("{suit}", language.of_suits[suit]);
}

function cardLabel(card) {
  const english = cardName(card, languages[0]);
  const other = state.language === languages[0] ? "" : `, ${cardName(card, state.language)}`;
  return english + other;
}

function face(card) {
  const hidden = sign(Math.floor(card / cards.N_RANKS));
  hidden.removeAttribute("role");
  hidden.removeAttribute("aria-label");
  hidden.setAttribute("aria-hidden", "true");
  return [element("span", { "aria-hidden": "true" }, state.language.letters[card % cards.N_RANKS]),
    hidden];
}

const whole = (x) => (Math.round(x) < 0 ? "−" : "") + Math.abs(Math.round(x));
const signed = (x) => (Math.round(x) > 0 ? "+" : "") + whole(x);

// A share in per cent: a decimal only near 0 and 100, where it matters.
function percent(p) {
  if (p === 0 || p === 1) return `${100 * p}%`;
  const shown = 100 * p;
  if (shown < 0.1) return "<0.1%";
  if (shown > 99.9) return ">99.9%";
  return shown < 1 || shown > 99 ? `${shown.toFixed(1)}%` : `${shown.toFixed(0)}%`;
}

function plusMinus({ low, high }, scale) {
  const half = scale * (high - low) / 2;
  return element("span", { class: "error" }, ` ±${half < 1 ? half.toFixed(1) : half.toFixed(0)}`);
}

// A word of the game, with the chosen language's word behind it: gloss() adds that.
function word(name, shown = name) {
  return element("span", { "data-word": name }, shown);
}

function gloss(root) {
  const { code, words } = state.language;
  root.querySelectorAll(".gloss").forEach((each) => each.remove());
  if (code === "en") return;
  root.querySelectorAll("[data-word]").forEach((each) => {
    each.append(element("span", { class: "gloss", lang: code }, ` (${words[each.dataset.word]})`));
  });
}

// -- the answer ----------------------------------------------------------------------------------

function showAnswer(mask) {
  const visible = state.table !== null && mask !== 0;
  at("answer").hidden = !visible;
  if (!visible) return;
  const answer = answerOf(mask);
  at("answer-title").replaceChildren("Worth of ", ...shownHand(mask));
  at("advice").replaceChildren(...adviceOf(answer));
  at("strength").replaceChildren(...strengthOf(answer));
  at("talon").replaceChildren(talonOf(answer, mask));
  showContracts(answer);
  gloss(at("answer"));
}

// The answer by the model that is chosen.
function answerOf(mask) {
  return state.table.answer(mask, state.by ?? undefined);
}

function shownHand(mask) {
  const parts = [];
  for (const suit of cards.PRINTED_SUITS) {
    const ranks = cards.of(mask).filter((card) => Math.floor(card / cards.N_RANKS) === suit)
      .map((card) => state.language.letters[card % cards.N_RANKS]).reverse();
    if (ranks.length) parts.push(sign(suit), `\u00a0${ranks.join("\u00a0")} `);
  }
  return parts;
}

function headline(answer) {
  if (answer.passing.value === null) return "You may ask for a new deal";
  return answer.bid_up_to === null ? "Pass" : `Bid up to ${answer.bid_up_to}`;
}

// The answer in a line, for who sees no more of the page and for who hears it.
function sentence(answer) {
  return `${headline(answer)}. Stronger than ${percent(answer.percentile)} of all hands. `
    + "More below.";
}

// Whether chance alone may have put a score above or below what passing earns.
function isClose(score, passing) {
  const half = ({ low, high }) => (high - low) / 2;
  return Math.abs(score.value - passing.value) < Math.hypot(half(score), half(passing));
}

function adviceOf(answer) {
  const { passing, bid_up_to: bid } = answer;
  const scores = new Map(answer.model.contracts.map((row) => [row.contract, row.score]));
  const best = answer.model.best_contract;
  const amount = (score) => [element("b", {}, signed(score.value)), plusMinus(score, 1)];
  const lines = [element("p", { class: "bid" }, headline(answer))];
  if (passing.value === null) {
    lines.push(element("p", {}, "What passing would earn is not known: the computer players "
      + `always take the new deal. If you play instead, ${best} scores most: `,
    ...amount(scores.get(best)), " on average."));
    return lines;
  }
  const played = bid ?? settings.contracts[0];
  const score = scores.get(played);
  lines.push(element("p", {}, `Playing for ${played} scores `, ...amount(score),
    " on average; passing earns ", ...amount(passing), ".",
    isClose(score, passing) ? " It is close." : "",
    bid === null ? "" : " If they bid more, pass.",
    bid === answer.highest_allowed ? " The rules allow no higher bid." : ""));
  if (bid === null && settings.forced_opening) {
    lines.push(element("p", { class: "small" },
      `If you sit left of the dealer you must open with ${played} all the same.`));
  }
  if (bid !== null && best < bid) {
    lines.push(element("p", {}, `Go there only if you must: ${best} scores most, `,
      ...amount(scores.get(best)), " on average."));
  }
  return lines;
}

function strengthOf(answer) {
  const share = percent(answer.percentile);
  const bar = element("div", { class: "meter", role: "img",
    "aria-label": `stronger than ${share} of all hands` });
  const filled = element("i");
  filled.style.width = `${100 * answer.percentile}%`;
  bar.append(filled);
  const points = element("p", {}, "As ", word("declarer"), " it takes ",
    element("b", {}, whole(answer.model.points.value)), " ", word("points"),
    " on average, marriages included.");
  const found = [element("p", {}, "Stronger than ", element("b", {}, share), " of all hands."), bar,
    points];
  if (answer.hands > 1) {
    found.unshift(element("p", {}, `Average of the ${answer.hands.toLocaleString("en")} hands that `
      + "hold these cards."));
  }
  return found;
}

function talonOf(answer, mask) {
  if (answer.talon === null) return element("p", {}, "Choose all seven cards to see it.");
  const { completes, brings, any_marriage: any, talons } = answer.talon;
  const suit = (letter) => cards.SUIT_LETTERS.indexOf(letter);
  const shown = (letter) => sign(suit(letter));
  const list = element("ul");
  for (const [letter, n] of Object.entries(completes)) {
    const missing = mask >> (cards.N_RANKS * suit(letter) + cards.QUEEN) & 1 ? "king" : "queen";
    list.append(element("li", {}, "the ", missing, " that completes your ", word("marriage"), " of ",
      shown(letter), " (", String(settings.values[suit(letter)]), "): ",
      element("b", {}, percent(n / talons))));
  }
  const pairs = Object.entries(brings);
  if (pairs.length) {
    const each = pairs.length > 1 ? " each" : "";
    list.append(element("li", {}, "king and queen of ", ...pairs.flatMap(([letter], i) =>
      (i ? [" or ", shown(letter)] : [shown(letter)])), " both: ",
    element("b", {}, `${(100 * pairs[0][1] / talons).toFixed(1)}%`), each));
  }
  if (any > 0) {
    list.append(element("li", {}, "any new marriage: ", element("b", {}, percent(any / talons))));
  }
  return list.children.length ? list
    : element("p", {}, "You hold all four marriages: it can bring no other.");
}

// Contracts worth showing: up to where the hand hardly makes any, and always the bid.
function shownRows(answer) {
  const rows = answer.model.contracts;
  let last = 4;
  rows.forEach((row, i) => {
    if (row.makes.value >= 0.01 || row.contract === answer.bid_up_to) last = Math.max(last, i);
  });
  return rows.slice(0, last + 1);
}

function showContracts(answer) {
  const rows = shownRows(answer);
  const head = element("tr", {},
    element("th", { scope: "col" }, "Contract"), element("th", { scope: "col" }, "Made"),
    element("th", { scope: "col" }, "Average score"), element("td"));
  const body = rows.map((row) => {
    const best = row.contract === answer.bid_up_to;
    return element("tr", { "data-contract": row.contract, ...(best ? { class: "best" } : {}) },
      element("th", { scope: "row" }, String(row.contract)),
      element("td", {}, percent(row.makes.value), plusMinus(row.makes, 100)),
      element("td", {}, signed(row.score.value), plusMinus(row.score, 1)),
      element("td", {}, ...(best ? ["←", element("span", { class: "wide" }, " bid up to")] : [])));
  });
  at("contracts").replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  at("curve").replaceChildren(curveOf(answer, rows));
}

function curveOf(answer, rows) {
  const width = Math.max(300, Math.min(576, at("curve").clientWidth || 576)), height = 260;
  const [left, right, top, bottom] = [40, 12, 22, 40];
  const x = (i) => left + (width - left - right) * (i + 0.5) / rows.length;
  const y = (p) => top + (height - top - bottom) * (1 - p);
  const words = rows.map((row) => `${row.contract}: ${percent(row.makes.value)}`).join(", ");
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `How often each contract is made. ${words}` });
  const bid = rows.findIndex((row) => row.contract === answer.bid_up_to);
  if (bid >= 0) {
    const edge = left + (width - left - right) * (bid + 1) / rows.length;
    svg.append(element("rect", { x: left, y: top, width: edge - left, height: height - top - bottom,
      fill: "#dbe9f6" }));
    svg.append(element("text", { x: Math.max(edge - 4, left + 90), y: 14, "text-anchor": "end" },
      "worth bidding"));
  }
  for (const p of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(element("line", { x1: left, x2: width - right, y1: y(p), y2: y(p), stroke: "#c9c5bc" }));
    svg.append(element("text", { x: left - 5, y: y(p) + 4, "text-anchor": "end" }, `${100 * p}%`));
  }
  const line = rows.map((row, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(row.makes.value).toFixed(1)}`);
  const upper = rows.map((row, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(row.makes.high).toFixed(1)}`);
  const lower = rows.map((row, i) => `L${x(i).toFixed(1)} ${y(row.makes.low).toFixed(1)}`).reverse();
  svg.append(element("path", { d: `${upper.join("")}${lower.join("")}Z`, fill: "#0b539433" }));
  svg.append(element("path", { d: line.join(""), fill: "none", stroke: "#0b5394", "stroke-width": 2.5 }));
  const every = Math.ceil(rows.length * 34 / (width - left - right));
  rows.forEach((row, i) => {
    svg.append(element("circle", { cx: x(i), cy: y(row.makes.value), r: 4, fill: "#0b5394" }));
    if (i % every === 0) {
      svg.append(element("text", { x: x(i), y: height - 22, "text-anchor": "middle" },
        String(row.contract)));
    }
  });
  svg.append(element("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" },
    "contract"));
  return svg;
}
