// Draws details. Every text goes in as text, never as markup.
export function put(parent, kind, text, name = "") {
  const node = document.createElement(kind);
  if (text !== undefined && text !== null) node.textContent = text;
  if (name) node.className = name;
  parent.append(node);
  return node;
}

function facts(parent, pairs) {
  const list = put(parent, "dl");
  for (const [name, value] of pairs) {
    if (value === undefined || value === null || value === "") continue;
    put(list, "dt", name);
    put(list, "dd", value);
  }
}

function text(parent, title, value, open = true) {
  const box = put(parent, "details");
  box.open = open;
  put(box, "summary", title);
  put(box, "pre", value);
  return box;
}

function pretty(value) {
  try { return JSON.stringify(JSON.parse(value), null, 2); } catch { return value; }
}

export function badge(parent, found) {
  const node = put(parent, "span", found.word, `badge ${found.word}`);
  node.title = found.sentence;
  return node;
}

export function detail(parent, found, actions) {
  parent.replaceChildren();
  const event = found.event;
  const head = put(parent, "h2", event.event + (event.tool ? `:${event.tool}` : ""));
  badge(head, found.badge);
  facts(parent, [
    ["decision", found.observed ? "not known: an observer read the event, and nothing of what hooks answered" : event.stop ? "a hook ended the turn" : event.decision || (found.runs.length ? "no objection" : "no hook ran")],
    ["time", new Date(event.t * 1000).toLocaleString()],
    ["took", event.ms === undefined ? "" : `${event.ms} ms`],
    ["session", event.session],
    ["directory", event.cwd],
    ["call", event.call],
    ["agent", event.agent],
    ["firing", event.fire],
    ["configuration", event.conf],
  ]);
  const bar = put(parent, "p", undefined, "actions");
  for (const [name, act] of actions) put(bar, "button", name).addEventListener("click", act);
  if (found.unlinked) put(parent, "p", "This record is of an older version, which did not say which runs belong to it: what each hook did is not known.", "note");
  for (const run of found.runs) runBox(parent, run);
  if (found.skips.length) {
    const box = put(parent, "details");
    box.open = found.skips.length <= 8;
    put(box, "summary", `${found.skips.length} skipped`);
    const list = put(box, "ul");
    for (const skip of found.skips) {
      const item = put(list, "li");
      put(item, "code", skip.handler);
      put(item, "span", ` ${skip.skip}${skip.reason ? `: ${skip.reason}` : ""} `);
      put(item, "span", skip.source, "dim");
    }
  }
  for (const [title, texts] of [["The model reads", found.model], ["The user reads", found.user]]) {
    texts.forEach((each, index) => text(parent, texts.length > 1 ? `${title} (${index + 1})` : title, each));
  }
  if (found.input) text(parent, "Input", pretty(found.input), false).classList.add("input");
  if (!found.seen) put(parent, "p", "Inputs, outputs and texts are only known of events that happen while this page's console runs: the journal keeps none.", "note");
}

function runBox(parent, run) {
  const box = put(parent, "section", undefined, "run");
  const verdict = run.shadow ? `shadow: ${run.would}` : run.decision || run.outcome;
  const head = put(box, "h3");
  put(head, "span", verdict, `decision ${String(run.shadow ? "shadow" : run.decision || run.outcome).replaceAll(" ", "-")}`);
  put(head, "code", run.handler);
  facts(box, [
    ["reason", run.reason],
    ["ending", run.ending],
    ["exit", run.exit],
    ["took", `${run.ms} ms`],
    ["from", `${run.scope || ""} ${run.source || ""}`.trim()],
    ["notes", (run.codes || []).join(", ")],
  ]);
  if (run.seen.stdout) text(box, "stdout", run.seen.stdout).classList.add("input");
  if (run.seen.stderr) text(box, "stderr", run.seen.stderr).classList.add("input");
}

export function explained(parent, found) {
  const box = put(parent, "section", undefined, "explained");
  put(box, "h3", "Explain: what each hook would do with this event now");
  if (found.note) put(box, "p", found.note, "note");
  put(box, "pre", found.lines.join("\n"));
  box.scrollIntoView({ block: "nearest" });
}

function bars(parent, counts, bounds) {
  const most = Math.max(1, ...counts);
  const graph = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  graph.setAttribute("viewBox", `0 0 ${counts.length * 8} 24`);
  graph.setAttribute("class", "bars");
  graph.setAttribute("role", "img");
  const words = counts.map((count, at) => count && `${count} up to ${bounds[at] ?? "more"} ms`).filter(Boolean).join(", ");
  graph.setAttribute("aria-label", `run times: ${words}`);
  const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
  title.textContent = words;
  graph.append(title);
  counts.forEach((count, at) => {
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const height = count ? Math.max(2, (count / most) * 24) : 0;
    for (const [name, value] of Object.entries({ x: at * 8, y: 24 - height, width: 7, height })) bar.setAttribute(name, value);
    graph.append(bar);
  });
  parent.append(graph);
}

export function hooks(parent, found, open) {
  parent.replaceChildren();
  put(parent, "h2", found.project);
  for (const problem of found.problems) put(parent, "p", problem.text, `problem ${problem.severity}`);
  if (!found.hooks.length) put(parent, "p", "No hooks are configured here. `hookwright new` writes one from a template.", "note");
  const table = put(parent, "table");
  const head = put(put(table, "thead"), "tr");
  for (const name of ["event", "hook", "state", "runs", "refused", "failed", "p50 ms", "p95 ms", "times"]) put(head, "th", name).scope = "col";
  const body = put(table, "tbody");
  for (const hook of found.hooks) {
    const row = put(body, "tr");
    put(row, "td", hook.event + (hook.matcher ? ` ${hook.matcher}` : ""));
    const cell = put(row, "td");
    put(cell, "button", hook.handler, "link").addEventListener("click", () => open(hook.number));
    put(cell, "div", `${hook.scope}  ${hook.source}`, "dim");
    const state = put(row, "td", hook.state === "active" && !hook.can_work ? "cannot work" : hook.state, `state ${hook.state}`);
    if (hook.detail) state.title = hook.detail;
    if (hook.mode === "shadow") put(state, "div", "decides nothing (shadow)", "dim");
    if (hook.never) put(state, "div", "never fired", "dim");
    for (const value of [hook.runs, hook.refused, hook.failed]) put(row, "td", value || "", "number");
    for (const value of [hook.p50, hook.p95]) put(row, "td", value === null ? "" : Math.round(value), "number");
    bars(put(row, "td"), hook.histogram, found.bounds);
  }
  put(parent, "article", undefined, "script").id = "script";
}

export function script(parent, found) {
  parent.replaceChildren();
  put(parent, "h3", found.handler);
  put(parent, "p", found.place, "dim");
  for (const file of found.files) text(parent, file.path, file.text);
  if (!found.files.length) put(parent, "p", "This hook runs no file of its own.", "note");
  put(parent, "h3", "Last runs");
  const list = put(parent, "ul");
  for (const run of found.last) put(list, "li", `${new Date(run.t * 1000).toLocaleString()}  ${run.decision || run.outcome}  ${run.ms} ms  ${run.reason || ""}`);
  if (!found.last.length) put(parent, "p", "No run of it is in the journal.", "note");
  parent.scrollIntoView({ block: "nearest" });
}

export function sessions(parent, found, choose, colour) {
  parent.replaceChildren();
  const table = put(parent, "table");
  const head = put(put(table, "thead"), "tr");
  for (const name of ["session", "agent", "picture", "directory", "events", "runs", "refused", "failed", "last"]) put(head, "th", name).scope = "col";
  const body = put(table, "tbody");
  for (const one of found) {
    const row = put(body, "tr");
    const button = put(put(row, "td"), "button", one.session.slice(0, 36), `link session ${colour(one.session)}`);
    button.addEventListener("click", () => choose(one.session));
    put(row, "td", one.agent);
    badge(put(row, "td"), one.badge);
    put(row, "td", one.cwd);
    for (const value of [one.events, one.runs, one.refused, one.errors]) put(row, "td", value || "", "number");
    put(row, "td", new Date(one.last).toLocaleString());
  }
  if (!found.length) put(parent, "p", "No session is in the journal.", "note");
}

export function trust(parent, found) {
  parent.replaceChildren();
  put(parent, "h2", found.project);
  const waiting = found.items.filter((item) => item.state !== "trusted").length;
  put(parent, "p", waiting ? `${waiting} of ${found.items.length} wait for your review. This page decides nothing. In the project, run:` : `${found.items.length} items, all trusted.`);
  if (waiting) put(parent, "pre", found.command);
  for (const item of found.items) {
    const box = put(parent, "details");
    put(box, "summary", `${item.state}: ${item.title}`);
    put(box, "pre", item.diff || "no change since it was trusted");
  }
}
