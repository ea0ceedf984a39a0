// The tree of groups of tasks: rows that open and close. `rows` is from sections/graph.py, `shown` makes a text of seconds.
"use strict";
function kithTree(rows, shown) {
  const [ABOVE, KIND, LABEL, FIRST, MEMBERS, TASKS, OWN, TOTAL, MEDIAN, LONGEST, CRITICAL, COLOUR, MORE, LINEAGE, MARKS] = rows[0].keys();
  const one = selector => document.querySelector(selector);
  const body = one("#tree tbody"), at = one("#tree-at"), choice = one("#problem"), head = one("#tree-problem");
  const below = rows.map(() => []);
  rows.forEach((r, i) => { if (r[ABOVE] >= 0) below[r[ABOVE]].push(i); });
  const open = new Set();
  let here = 0;
  const openOnly = () => {  // the first node, and those that are alone
    open.clear();
    for (let i = 0; below[i].length; i = below[i][0]) { open.add(i); if (below[i].length > 1) break; }
  };
  const percent = share => share >= 0.1 ? `${Math.round(100 * share)} %` : `${Number((100 * share).toPrecision(2))} %`;
  const visible = () => {
    const found = [], walk = (i, level) => { found.push([i, level]); if (open.has(i)) below[i].forEach(k => walk(k, level + 1)); };
    walk(0, 1);
    return found;
  };
  const marked = r => {  // [name, tasks, share] of the problem that is shown
    if (choice.selectedIndex === 1) return ["on the critical path", r[CRITICAL], r[CRITICAL] / r[TASKS]];
    const all = Object.entries(r[MARKS]).map(([name, [count, share]]) => [name, count, share]);
    return (choice.value ? all.find(m => m[0] === choice.value) : all.sort((a, b) => b[2] - a[2])[0]) || ["", 0, 0];
  };
  const cell = (tr, text, css, tag = "td") => { const e = document.createElement(tag); e.textContent = text; if (css) e.className = css; tr.append(e); return e; };
  const row = ([i, level]) => {
    const r = rows[i], tr = document.createElement("tr"), siblings = r[ABOVE] < 0 ? [0] : below[r[ABOVE]];
    const attributes = { "aria-level": level, "aria-posinset": siblings.indexOf(i) + 1, "aria-setsize": siblings.length, "data-i": i };
    if (below[i].length) attributes["aria-expanded"] = open.has(i);
    Object.entries(attributes).forEach(([name, value]) => tr.setAttribute(name, value));
    tr.tabIndex = i === here ? 0 : -1;
    const label = cell(tr, "", "label");
    label.style.paddingLeft = `calc(${Math.min(level - 1, 12)} * var(--step))`;
    const sign = document.createElement("i"), dot = document.createElement("i"), text = document.createElement("span");
    sign.className = below[i].length ? "sign" : r[MORE] ? "sign more" : "sign leaf";
    dot.className = `dot ${r[COLOUR] < 0 ? "others" : `t-${r[COLOUR]}`}`;
    text.textContent = r[LABEL];
    label.append(sign, dot, text);
    cell(tr, r[TASKS].toLocaleString("en").replaceAll(",", "\u202f"), "num wide-only");
    const bar = cell(tr, "", "wide-only"), inner = document.createElement("i"), outer = document.createElement("span");
    outer.className = "bar";
    inner.className = r[COLOUR] < 0 ? "others" : `t-${r[COLOUR]}`;
    inner.style.width = `${rows[0][TOTAL] > 0 ? 100 * r[TOTAL] / rows[0][TOTAL] : 0}%`;
    outer.append(inner);
    bar.append(outer);
    cell(tr, shown(r[TOTAL]), "num");
    cell(tr, shown(r[MEDIAN]), "num wide-only");
    const [name, count, share] = marked(r), problem = cell(tr, count ? percent(share) : "·", "num mark");
    if (count) { problem.title = `${name}: ${count} tasks`; problem.style.setProperty("--hit", 0.12 + 0.5 * share); problem.classList.add("hit"); }
    return tr;
  };
  const describe = i => {
    const r = rows[i], each = r[MEMBERS] > 1 ? `, median ${shown(r[MEDIAN])}, longest ${shown(r[LONGEST])}` : "";
    const inner = r[TASKS] > r[MEMBERS] ? `; with all below, ${r[TASKS]} tasks and ${shown(r[TOTAL])}` : "";
    const marks = Object.entries(r[MARKS]).map(([name, [count]]) => `${name} (${count})`).join(", ");
    at.textContent = `${r[LABEL]}: ${shown(r[OWN])} of work${each}${inner}${r[CRITICAL] ? `; ${r[CRITICAL]} on the critical path` : ""}.` +
      (marks ? ` Problems: ${marks}.` : "") + (r[KIND] === "task" ? ` Lineage ${r[LINEAGE]}.` : ` From task ${r[FIRST]} on.`) +
      (r[MORE] ? ` The page does not have what is below: kith graph FILE --tree${r[LINEAGE] ? ` --below ${r[LINEAGE]}` : ""}.` : "");
  };
  const draw = focus => {
    head.textContent = choice.value || "largest problem";
    body.replaceChildren(...visible().map(row));
    if (focus) { const tr = body.querySelector(`[data-i="${here}"]`); tr.focus(); describe(here); }
  };
  const toggle = i => {
    here = i;
    if (open.has(i)) open.delete(i); else if (below[i].length) open.add(i);
    draw(true);
  };
  body.addEventListener("click", e => { const tr = e.target.closest("tr"); if (tr) toggle(Number(tr.dataset.i)); });
  body.addEventListener("keydown", e => {
    const order = visible().map(v => v[0]), place = order.indexOf(here), r = rows[here];
    const go = i => { if (i !== undefined && i >= 0) here = i; draw(true); };
    const moves = {
      ArrowDown: () => go(order[place + 1]), ArrowUp: () => go(order[place - 1]), Home: () => go(order[0]), End: () => go(order.at(-1)),
      ArrowRight: () => { if (below[here].length && !open.has(here)) toggle(here); else go(below[here][0]); },
      ArrowLeft: () => { if (open.has(here)) toggle(here); else go(r[ABOVE]); },
      Enter: () => toggle(here), " ": () => toggle(here),
    };
    if (!moves[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    moves[e.key]();
    e.preventDefault();
  });
  const buttons = {
    more: () => visible().forEach(([i]) => { if (below[i].length) open.add(i); }),
    less: () => { openOnly(); here = 0; },
    problem: () => {  // the way to where most of the time with the problem is
      let i = 0;
      while (below[i].length) {
        open.add(i);
        const worst = k => marked(rows[k])[2] * (choice.selectedIndex === 1 ? rows[k][TASKS] : rows[k][TOTAL]);
        const next = below[i].reduce((a, b) => worst(b) > worst(a) ? b : a);
        if (worst(next) <= 0) break;
        i = next;
      }
      here = i;
    },
  };
  document.querySelectorAll("[data-tree]").forEach(b => b.addEventListener("click", () => { buttons[b.dataset.tree](); draw(b.dataset.tree === "problem"); }));
  choice.addEventListener("change", () => draw(false));
  openOnly();
  draw(false);
}
