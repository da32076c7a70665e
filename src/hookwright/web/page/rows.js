// The list: rows of numbers, a fixed height, and as many nodes as fit on the screen.
const HEIGHT = 26;
const COLOURS = 12;

export const TIME = 0, EVENT = 1, TOOL = 2, SESSION = 3, CWD = 4, AGENT = 5, DECISION = 6, RAN = 7, SKIPPED = 8;
export const ERRORS = 9, MICROS = 10, FLAGS = 11;
export const STOPPED = 1, SHADOW = 2, OBSERVED = 8;

export class Rows {
  constructor() {
    this.names = [];
    this.rows = [];
    this.boot = "";
    this.at = 0;
  }
  take(frame) {
    if (frame.rows === undefined) return false;
    const again = frame.boot !== this.boot;
    if (again) Object.assign(this, { names: [], rows: [], boot: frame.boot });
    frame.names.forEach((name, index) => { this.names[frame.from + index] = name; });
    for (const [number, ...row] of frame.rows) this.rows[number] = row;
    this.at = frame.at;
    return again;
  }
  name(number, field) { return this.names[this.rows[number][field]] || ""; }
  decision(number) {
    const row = this.rows[number];
    if (row[FLAGS] & OBSERVED) return "not known";
    if (row[FLAGS] & STOPPED) return "stop";
    const said = this.name(number, DECISION);
    if (said) return said;
    if (row[ERRORS]) return "error";
    return row[RAN] ? "no objection" : "no hook ran";
  }
}

export function colour(session) { return `s${session % COLOURS}`; }

export function took(micros) {
  return micros < 1000 ? `${micros} µs` : micros < 1e6 ? `${Math.round(micros / 1000)} ms` : `${(micros / 1e6).toFixed(1)} s`;
}

export function clock(time) {
  return new Date(time).toLocaleTimeString([], { hour12: false, hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

// Words and fields of the filter box; `text` holds what only the server can look for.
export function parse(text) {
  const fields = {}, words = [];
  for (const word of text.trim().split(/\s+/).filter(Boolean)) {
    const found = /^(decision|tool|event|session|agent|errors|cwd):(.+)$/i.exec(word);
    if (found) fields[found[1].toLowerCase()] = found[2].toLowerCase();
    else words.push(word);
  }
  return { fields, text: words.join(" ") };
}

export function matches(rows, number, fields) {
  const row = rows.rows[number];
  if (!row) return false;
  const has = (field, wanted) => wanted === undefined || rows.name(number, field).toLowerCase().includes(wanted);
  return has(EVENT, fields.event) && has(TOOL, fields.tool) && has(SESSION, fields.session) && has(CWD, fields.cwd)
    && has(AGENT, fields.agent) && (fields.decision === undefined || rows.decision(number).startsWith(fields.decision))
    && (fields.errors === undefined || (row[ERRORS] > 0) === (fields.errors !== "no"));
}

export class List {
  constructor(box, rows, choose) {
    Object.assign(this, { box, rows, choose, shown: [], chosen: -1, following: true, pool: new Map() });
    this.tall = box.querySelector("#tall");
    this.body = box.querySelector("#pool");
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(box);
    box.addEventListener("click", (event) => {
      const node = event.target.closest("[role=row]");
      if (node) this.pick(Number(node.dataset.at));
    });
  }
  show(numbers) {
    this.shown = numbers;
    this.tall.style.height = `${numbers.length * HEIGHT}px`;
    this.box.setAttribute("aria-rowcount", numbers.length);
    if (this.following) this.box.scrollTop = this.box.scrollHeight;
    this.draw(true);
  }
  pick(at) {
    if (at < 0 || at >= this.shown.length) return;
    this.chosen = this.shown[at];
    const top = at * HEIGHT;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    if (top + HEIGHT > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + HEIGHT - this.box.clientHeight;
    this.draw(true);
    this.choose(this.chosen);
  }
  step(by) {
    const at = this.shown.indexOf(this.chosen);
    this.pick(at < 0 ? (by < 0 ? this.shown.length - 1 : 0) : Math.max(0, Math.min(this.shown.length - 1, at + by)));
  }
  draw(again = false) {
    const first = Math.max(0, Math.floor(this.box.scrollTop / HEIGHT) - 4);
    const last = Math.min(this.shown.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / HEIGHT) + 4);
    for (const [at, node] of this.pool) {
      if (again || at < first || at >= last) { node.remove(); this.pool.delete(at); }
    }
    for (let at = first; at < last; at++) {
      if (!this.pool.has(at)) {
        const node = this.node(at);
        this.pool.set(at, node);
        this.body.append(node);
      }
    }
    const current = this.pool.get(this.shown.indexOf(this.chosen));
    if (current) this.box.setAttribute("aria-activedescendant", current.id); else this.box.removeAttribute("aria-activedescendant");
  }
  node(at) {
    const number = this.shown[at], row = this.rows.rows[number], node = document.createElement("div");
    const decision = this.rows.decision(number);
    node.setAttribute("role", "row");
    node.setAttribute("aria-rowindex", at + 1);
    node.setAttribute("aria-selected", number === this.chosen);
    node.id = `row-${number}`;
    node.dataset.at = at;
    node.className = `row ${number === this.chosen ? "chosen" : ""}`;
    node.style.transform = `translateY(${at * HEIGHT}px)`;
    const tool = this.rows.name(number, TOOL);
    const agent = this.rows.name(number, AGENT);
    const cells = [
      ["time", clock(row[TIME])],
      [`session ${colour(row[SESSION])}`, this.rows.name(number, SESSION).slice(0, 8)],
      ["event", this.rows.name(number, EVENT) + (tool ? `:${tool}` : "")],
      [`decision ${decision.replaceAll(" ", "-")}`, decision],
      ["ran", row[FLAGS] & OBSERVED ? "observed" : `${row[RAN]} ran${row[SKIPPED] ? `, ${row[SKIPPED]} skipped` : ""}${row[ERRORS] ? `, ${row[ERRORS]} failed` : ""}`],
      ["took", row[FLAGS] & OBSERVED ? "" : took(row[MICROS])],
      ["agent", agent === "hookwright" ? "" : agent],
    ];
    for (const [name, text] of cells) {
      const cell = document.createElement("span");
      cell.setAttribute("role", "gridcell");
      cell.className = name;
      cell.textContent = text;
      node.append(cell);
    }
    if (row[FLAGS] & SHADOW) node.classList.add("shadow");
    return node;
  }
}
