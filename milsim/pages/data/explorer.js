// The page: cards to choose, the quiz, the address. What it shows of an answer is in answer.js.
"use strict";

// -- the cards -----------------------------------------------------------------------------------

function buildDeck() {
  for (const suit of cards.PRINTED_SUITS) {
    const row = element("div", { class: "row", role: "group",
      "aria-label": languages[0].suits[suit] });
    for (let rank = cards.ACE; rank >= cards.NINE; rank--) {
      const card = cards.N_RANKS * suit + rank;
      const button = element("button", { type: "button", class: `card s${suit}`,
        "data-card": card, "aria-pressed": "false", tabindex: "-1" });
      button.addEventListener("click", () => choose(card));
      button.addEventListener("focus", () => rove(button));
      row.append(button);
    }
    at("deck").append(row);
  }
  at("deck").addEventListener("keydown", moveInDeck);
  rove(at("deck").querySelector("button"));
}

// Only one card can be reached by Tab: the one that had the focus last.
function rove(button) {
  at("deck").querySelectorAll("button").forEach((each) => each.setAttribute("tabindex", "-1"));
  button.setAttribute("tabindex", "0");
}

function moveInDeck(event) {
  const all = [...at("deck").querySelectorAll("button")];
  const place = all.indexOf(document.activeElement);
  const [row, column] = [Math.floor(place / cards.N_RANKS), place % cards.N_RANKS];
  const last = cards.N_RANKS - 1;
  const goal = {
    ArrowLeft: [row, Math.max(column - 1, 0)], ArrowRight: [row, Math.min(column + 1, last)],
    ArrowUp: [Math.max(row - 1, 0), column], ArrowDown: [Math.min(row + 1, 3), column],
    Home: [row, 0], End: [row, last],
  }[event.key];
  if (!goal || place < 0) return;
  event.preventDefault();
  all[cards.N_RANKS * goal[0] + goal[1]].focus();
}

function choose(card) {
  const bit = 1 << card;
  if (!(state.mask & bit) && cards.count(state.mask) === cards.HAND_CARDS) {
    complain("You have seven cards already: put one back first.");
    return;
  }
  setHand(state.mask ^ bit);
}

function setHand(mask) {
  state.mask = mask;
  complain("");
  showHand();
  remember();
}

function complain(text) {
  at("problem").textContent = text;
}

function showHand() {
  const chosen = cards.count(state.mask);
  at("deck").querySelectorAll("button").forEach((button) => {
    const card = Number(button.dataset.card);
    button.setAttribute("aria-pressed", String(Boolean(state.mask >> card & 1)));
    button.setAttribute("aria-label", cardLabel(card));
    const surplus = chosen === cards.HAND_CARDS && !(state.mask >> card & 1);
    button.setAttribute("aria-disabled", String(surplus));
    button.replaceChildren(...face(card));
  });
  at("chosen").textContent = chosen === 0
    ? "Click the seven cards that you hold, or take a random hand."
    : chosen < cards.HAND_CARDS
      ? `${chosen} of 7 cards: ${cards.HAND_CARDS - chosen} to go. Below, the average `
        + "of all such hands."
      : state.table === null ? "" : sentence(answerOf(state.mask));
  if (state.mode === "explore") showAnswer(state.mask);
}

// A hand of seven, each equally likely.
function randomHand() {
  const room = Math.floor(2 ** 32 / cards.N_HANDS) * cards.N_HANDS;
  const drawn = new Uint32Array(1);
  do crypto.getRandomValues(drawn); while (drawn[0] >= room);
  return cards.handAt(drawn[0] % cards.N_HANDS);
}

// -- the quiz ------------------------------------------------------------------------------------

function options(mask) {
  const highest = settings.caps[cards.marriagesOf(mask)];
  return [null, ...settings.contracts.filter((contract) => contract <= highest)];
}

// Hands that always ask for a new deal are no question; every other hand is worth a bid, unless
// players are so weak that hardly any hand is.
function questionHand() {
  const wantsBid = crypto.getRandomValues(new Uint8Array(1))[0] & 1;
  for (let drawn = 0; ; drawn++) {
    const mask = randomHand();
    if (state.table.neverPasses(cards.rankOf(mask)) && drawn < 10000) continue;
    if (!wantsBid || drawn > 300 || answerOf(mask).bid_up_to !== null) return mask;
  }
}

function showQuiz(mask) {
  state.quiz = mask;
  state.guess = null;
  const shown = cards.PRINTED_SUITS.flatMap((suit) => cards.of(mask)
    .filter((card) => Math.floor(card / cards.N_RANKS) === suit).reverse());
  at("quiz-hand").replaceChildren(...shown.map((card) => element("div",
    { class: `card s${Math.floor(card / cards.N_RANKS)}`, role: "img", "aria-label": cardLabel(card) },
    ...face(card))));
  at("guesses").replaceChildren(...options(mask).map((bid) => {
    const button = element("button", { type: "button", "aria-pressed": "false",
      "data-bid": bid ?? "pass" }, bid === null ? "Pass" : String(bid));
    button.addEventListener("click", () => judge(bid));
    return button;
  }));
  at("verdict").textContent = "";
  at("answer").hidden = true;
  gloss(at("quiz"));
  remember();
}

function judge(guess) {
  if (state.guess !== null) return;
  state.guess = { bid: guess };
  const bids = options(state.quiz);
  const { bid_up_to: right, model, passing } = answerOf(state.quiz);
  const off = bids.indexOf(guess) - bids.indexOf(right);
  state.tally.hands++;
  state.tally.exact += off === 0;
  state.tally.steps += Math.abs(off);
  at("guesses").querySelectorAll("button").forEach((button, i) => {
    if (i !== bids.indexOf(guess)) button.disabled = true;
    button.setAttribute("aria-pressed", String(i === bids.indexOf(guess)));
    button.classList.toggle("right", i === bids.indexOf(right));
  });
  const truth = right === null ? "pass" : `bid up to ${right}`;
  const how = Math.abs(off) === 1 ? "one step" : `${Math.abs(off)} steps`;
  const higher = model.contracts.find((row) => row.contract === (off > 0 ? guess : right));
  const close = off !== 0 && isClose(higher.score, passing) ? " But it is close." : "";
  at("verdict").textContent = off === 0 ? `Exactly: ${truth}.`
    : `${how} too ${off > 0 ? "high" : "low"}: ${truth}.${close}`.replace(/^./, (c) => c.toUpperCase());
  const { hands, exact, steps } = state.tally;
  at("tally").textContent = `So far ${exact} of ${hands} exactly right, `
    + `${(steps / hands).toFixed(1)} steps off on average.`;
  showAnswer(state.quiz);
}

// -- the address, the language, the start --------------------------------------------------------

function remember() {
  const parts = state.mode === "quiz" ? [`quiz=${cards.format(state.quiz)}`]
    : state.mask ? [`hand=${cards.format(state.mask)}`] : [];
  if (state.by !== null) parts.push(`by=${state.by}`);
  if (state.language.code !== "en") parts.push(`words=${state.language.code}`);
  history.replaceState(null, "", `#${parts.join("&")}`);
}

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const language = languages.find((each) => each.code === given.get("words"));
  if (language) setLanguage(language);
  if (given.has("by")) setModel(given.get("by"));
  try {
    if (given.has("quiz")) {
      const mask = cards.parse(given.get("quiz"));
      setMode("quiz", cards.count(mask) === cards.HAND_CARDS ? mask : 0);
    } else if (given.has("hand")) {
      setMode("explore");
      setTyped(given.get("hand"));
    }
  } catch (problem) {
    complain(problem.message);
  }
}

function setTyped(text) {
  const mask = cards.parse(text, state.language.letters);
  if (cards.count(mask) > cards.HAND_CARDS) {
    throw new Error(`That is ${cards.count(mask)} cards; a hand before the talon has seven.`);
  }
  setHand(mask);
}

function setMode(mode, mask = 0) {
  state.mode = mode;
  for (const each of ["explore", "quiz"]) {
    at(each).hidden = each !== mode;
    at(`mode-${each}`).setAttribute("aria-pressed", String(each === mode));
  }
  if (mode === "explore") {
    showHand();
    remember();
  } else {
    const isQuestion = mask && !state.table.neverPasses(cards.rankOf(mask));
    showQuiz(isQuestion ? mask : questionHand());
  }
}

function setLanguage(language) {
  state.language = language;
  at("language").value = language.code;
  showHand();
  gloss(document.body);
}

// Who plays: the table's own policy (null), or a model that it is corrected to.
function setModel(name) {
  state.by = state.table.corrections?.models.has(name) ? name : null;
  at("by").value = state.by ?? state.table.header.policy;
}

function listen() {
  at("random").addEventListener("click", () => setHand(randomHand()));
  at("clear").addEventListener("click", () => setHand(0));
  at("mode-explore").addEventListener("click", () => setMode("explore"));
  at("mode-quiz").addEventListener("click", () => setMode("quiz", state.guess ? 0 : state.quiz));
  at("next").addEventListener("click", () => {
    showQuiz(questionHand());
    at("guesses").querySelector("button").focus();
  });
  at("guesses").addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const all = [...at("guesses").querySelectorAll("button:enabled")];
    all[all.indexOf(document.activeElement) + (step ?? NaN)]?.focus();
  });
  at("typed").addEventListener("submit", (event) => {
    event.preventDefault();
    try {
      setTyped(at("text").value);
    } catch (problem) {
      complain(problem.message);
    }
  });
  at("language").addEventListener("change", () => {
    setLanguage(languages.find((each) => each.code === at("language").value));
    if (state.mode === "quiz" && state.guess === null) showQuiz(state.quiz);
    remember();
  });
  at("by").addEventListener("change", () => {
    setModel(at("by").value);
    showHand();
    if (state.mode === "quiz") showAnswer(state.quiz);
    remember();
  });
  window.addEventListener("hashchange", readAddress);
  window.addEventListener("resize", () => {
    if (!at("answer").hidden) showAnswer(state.mode === "quiz" ? state.quiz : state.mask);
  });
}

async function start() {
  buildDeck();
  showHand();
  try {
    const text = atob(at("table").textContent.replace(/\s/g, ""));
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    state.table = await HandTable.read(bytes, settings);
    const said = JSON.parse(at("corrections").textContent);
    state.table.corrections = said && new Corrections(said, state.table);
  } catch (problem) {
    complain(typeof DecompressionStream === "undefined"
      ? "This browser is too old to unpack the table in this page: please use a newer one."
      : `The table in this page cannot be read (${problem.message}). Download the page again.`);
    return;
  }
  listen();
  showHand();
  readAddress();
  document.documentElement.dataset.ready = "yes";
}

start();
