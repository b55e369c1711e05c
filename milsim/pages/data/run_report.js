"use strict";
// Tables are sorted by what their cells show: numbers as numbers without their intervals, what is
// no number last. The page says the same without this.

const texts = new Intl.Collator("en", { numeric: true });

function shown(row, place) {
  // An interval is in an element of its own, behind the number.
  const cell = row.cells[place];
  return (cell.firstChild?.textContent ?? "").trim();
}

function number(text) {
  const value = parseFloat(text.replaceAll(",", "").replace("−", "-"));
  return Number.isNaN(value) ? null : value;
}

function compare(a, b, numbers, sign) {
  if (!numbers) return sign * texts.compare(a, b);
  const [x, y] = [number(a), number(b)];
  if (x === null || y === null) return (x === null) - (y === null);
  return sign * (x - y);
}

function sort(table, place, direction) {
  const body = table.tBodies[0];
  const heads = table.tHead.rows[0].cells;
  for (const head of heads) head.removeAttribute("aria-sort");
  if (direction !== "none") heads[place].setAttribute("aria-sort", direction);
  table.classList.toggle("sorted", direction !== "none");
  const rows = [...body.rows].sort((a, b) => a.dataset.place - b.dataset.place);
  if (direction !== "none") {
    const numbers = heads[place].classList.contains("number");
    const sign = direction === "ascending" ? 1 : -1;
    // Array.sort keeps the order of what is equal.
    rows.sort((a, b) => compare(shown(a, place), shown(b, place), numbers, sign));
  }
  body.append(...rows);
}

const NEXT = { none: "ascending", ascending: "descending", descending: "none" };

for (const table of document.querySelectorAll("table")) {
  [...table.tBodies[0].rows].forEach((row, place) => { row.dataset.place = place; });
  if (table.tBodies[0].rows.length < 2) continue;
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.setAttribute("aria-label", head.dataset.name);
    button.title = `Sort by ${head.dataset.name}`;
    button.addEventListener("click", () =>
      sort(table, place, NEXT[head.getAttribute("aria-sort") ?? "none"]));
    head.append(button);
    head.classList.add("sortable");
  });
}

document.documentElement.dataset.ready = "yes";
