import { ask, follow, Refused } from "/ask.js";
import { colour, List, matches, parse, Rows } from "/rows.js";
import * as show from "/show.js";

const $ = (name) => document.getElementById(name);
const rows = new Rows();
const list = new List($("list"), rows, choose);
const VIEWS = ["traffic", "hooks", "sessions", "trust"];
let filter = parse(""), found = null, chosen = 0, waiting = false;

function say(text) { $("state").textContent = text; $("state").className = text === "live" ? "live" : "lost"; }

function visible() {
  const numbers = [];
  const only = found && new Set(found);
  for (let number = 0; number < rows.rows.length; number++) {
    if ((!only || only.has(number)) && matches(rows, number, filter.fields)) numbers.push(number);
  }
  return numbers;
}

function redraw() {
  waiting = false;
  const numbers = visible();
  list.show(numbers);
  $("count").textContent = numbers.length === rows.rows.length ? `${numbers.length} events` : `${numbers.length} of ${rows.rows.length} events`;
  const empty = $("empty");
  empty.hidden = numbers.length > 0;
  empty.textContent = rows.rows.length
    ? "No event matches the filter."
    : "No hook has run here yet. Start a session with `hookwright chat` or `hookwright run`, fire one event with `hookwright fire PreToolUse --sample Bash`, or embed the engine with journal=True; it appears here by itself.";
}

function soon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(redraw);
}

function take(frame) {
  if (frame.running !== undefined) running(frame.running);
  if (frame.rows === undefined) return;
  const again = rows.take(frame);
  if (again) found = null;
  if (found && filter.text) search();
  if (list.following || again) soon();
  else $("count").textContent = `paused, ${rows.rows.length} events`;
  if (frame.gaps) say(`live, with ${frame.gaps} gap(s): the journal was cut`);
}

function running(hooks) {
  document.title = hooks.length ? `(${hooks.length} running) Hookwright console` : "Hookwright console";
  $("state").title = hooks.map((hook) => `${hook.event}: ${hook.handler} since ${new Date(hook.t * 1000).toLocaleTimeString()}`).join("\n");
  if (hooks.length && $("state").classList.contains("live")) $("state").textContent = `live, ${hooks.length} hook${hooks.length > 1 ? "s" : ""} running`;
  else if ($("state").classList.contains("live")) $("state").textContent = "live";
}

async function choose(number) {
  chosen = number;
  try {
    const detail = await ask(`/api/event/${number}`);
    if (chosen !== number) return;
    show.detail($("detail"), detail, [["explain", explain], ["only this session", () => only(detail.event.session)]]);
  } catch (error) { failed($("detail"), error); }
}

async function explain() {
  $("detail").querySelector(".explained")?.remove();
  try { show.explained($("detail"), await ask(`/api/explain/${chosen}`)); } catch (error) { failed($("detail"), error); }
}

function failed(place, error) {
  show.put(place, "p", error instanceof Refused ? error.message : "the console does not answer", "problem");
}

function only(session) {
  $("filter").value = `session:${session}`;
  view("traffic");
  refilter();
}

let asked = 0;
async function search() {
  const mine = ++asked;
  const result = await ask(`/api/search?q=${encodeURIComponent(filter.text)}`).catch(() => []);
  if (mine === asked) { found = result; soon(); }
}

function refilter() {
  filter = parse($("filter").value);
  if (filter.text) search();
  else { found = null; asked++; redraw(); }
}

function setFollowing(on) {
  list.following = on;
  $("follow").setAttribute("aria-pressed", on);
  $("follow").textContent = on ? "following" : "paused";
  if (on) redraw();
}

const COLOURS = new Map();
function sessionColour(session) {
  if (!COLOURS.has(session)) COLOURS.set(session, colour(rows.names.indexOf(session)));
  return COLOURS.get(session);
}

async function view(name) {
  for (const each of VIEWS) {
    const on = each === name;
    $(each).hidden = !on;
    $(`tab-${each}`).setAttribute("aria-selected", on);
    $(`tab-${each}`).tabIndex = on ? 0 : -1;
  }
  const place = $(name);
  try {
    if (name === "hooks") show.hooks(place, await ask("/api/hooks"), (number) => script(number));
    if (name === "sessions") show.sessions(place, await ask("/api/sessions"), only, sessionColour);
    if (name === "trust") show.trust(place, await ask("/api/trust"));
    if (name === "traffic") redraw();
  } catch (error) { place.replaceChildren(); failed(place, error); }
}

async function script(number) {
  try { show.script($("script"), await ask(`/api/hooks/${number}`)); } catch (error) { failed($("script"), error); }
}

function hideInputs(on) {
  $("hide").checked = on;
  document.body.classList.toggle("hidden-inputs", on);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
  if (event.key === "Escape") { event.target.blur?.(); $("list").focus(); return; }
  if (typing) { if (event.key === "Enter" || event.key === "ArrowDown") $("list").focus(); return; }
  const act = {
    "/": () => $("filter").focus(), f: () => setFollowing(!list.following), e: explain, h: () => hideInputs(!$("hide").checked),
    "?": () => $("help").showModal(), j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1),
    Home: () => move(-1e9), End: () => move(1e9), PageDown: () => move(20), PageUp: () => move(-20),
    1: () => view("traffic"), 2: () => view("hooks"), 3: () => view("sessions"), 4: () => view("trust"),
  }[event.key];
  const moves = ["ArrowDown", "ArrowUp", "Home", "End", "PageDown", "PageUp"].includes(event.key);
  if (!act || (moves && ($("traffic").hidden || event.target.closest("#detail, [role=tablist], dialog")))) return;
  event.preventDefault();
  act();
});

function move(by) {
  if ($("traffic").hidden) return;
  if (list.following) setFollowing(false);
  list.step(by);
}

for (const name of VIEWS) $(`tab-${name}`).addEventListener("click", () => view(name));
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const at = VIEWS.findIndex((name) => $(`tab-${name}`).getAttribute("aria-selected") === "true");
  const next = VIEWS[(at + by + VIEWS.length) % VIEWS.length];
  view(next);
  $(`tab-${next}`).focus();
});
let typed = 0;
$("filter").addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(refilter, 120); });
$("follow").addEventListener("click", () => setFollowing(!list.following));
$("hide").addEventListener("change", (event) => hideInputs(event.target.checked));
$("help-open").addEventListener("click", () => $("help").showModal());

addEventListener("hashchange", () => location.reload());
redraw();
follow(() => ({ boot: rows.boot, at: rows.at, names: rows.names.length }), take, say);
