// The page's interactions: light and dark, where one is, sorting, the timeline, the graph. Everything is read from the
// element #data; nothing is asked from a network.
"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const data = JSON.parse(one("#data").textContent);
  const tip = one("#tip");
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const redraws = [];

  // Light and dark.
  const theme = one("#theme");
  const setDark = dark => {
    document.documentElement.classList.toggle("dark", dark);
    theme.setAttribute("aria-pressed", String(dark));
    redraws.forEach(redraw => redraw());
  };
  const wishes = matchMedia("(prefers-color-scheme: dark)");
  wishes.addEventListener("change", e => setDark(e.matches));
  theme.addEventListener("click", () => setDark(!document.documentElement.classList.contains("dark")));

  // Which section is in view.
  const links = new Map(all("nav a").map(a => [a.getAttribute("href").slice(1), a]));
  const seen = new IntersectionObserver(entries => {
    for (const e of entries)
      if (e.isIntersecting) links.forEach((a, id) => {
        a.classList.toggle("here", id === e.target.id);
        if (id === e.target.id) a.setAttribute("aria-current", "true"); else a.removeAttribute("aria-current");
      });
  }, { rootMargin: "-20% 0px -70% 0px" });
  all("main > section").forEach(s => seen.observe(s));

  // Tables that sort.
  all("table.sortable").forEach(table => all("th .sort", table).forEach(button => button.addEventListener("click", () => {
    const th = button.closest("th"), column = [...th.parentNode.children].indexOf(th);
    const up = th.getAttribute("aria-sort") === "descending";
    all("th[aria-sort]", table).forEach(x => x.setAttribute("aria-sort", "none"));
    th.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => row.children[column].dataset.v;
    const rows = all("tbody tr", table).sort((a, b) => {
      const x = key(a), y = key(b);
      const order = x === undefined ? a.children[column].textContent.localeCompare(b.children[column].textContent) : x - y;
      return up ? order : -order;
    });
    one("tbody", table).append(...rows);
  })));

  const shown = seconds => {
    if (seconds === 0) return "0";
    for (const [scale, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]])
      if (Math.abs(seconds) >= scale) return `${(seconds / scale).toPrecision(4)} ${unit}`;
    return `${(seconds * 1e9).toPrecision(3)} ns`;
  };
  const say = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = !text;
    if (text) {
      tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
      tip.style.top = `${Math.max(4, Math.min(y + 16, innerHeight - tip.offsetHeight - 8))}px`;
    }
  };

  if (data.timeline) timeline(data.timeline);
  if (data.graph) { graph(data.graph); kithTree(data.graph.tree, shown); }
  setDark(wishes.matches);

  function timeline(d) {
    const unpacked = (text, type) => new type(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
    const kind = unpacked(d.kind, Uint8Array);
    const share = d.exact ? null : unpacked(d.share, Uint8Array);
    const worker = d.exact && unpacked(d.worker, Uint16Array), begin = d.exact && unpacked(d.begin, Uint32Array);
    const end = d.exact && unpacked(d.end, Uint32Array), task = d.exact && unpacked(d.task, Int32Array);
    // The intervals of worker w are first[w] to first[w + 1].
    const first = [];
    if (d.exact) for (let i = 0, w = 0; w <= d.workers; ++w) { while (i < d.count && worker[i] < w) ++i; first.push(i); }
    const canvas = one("#timeline-canvas"), range = one("#timeline-range"), at = one("#timeline-at");
    let from = 0, to = d.makespan, colours = [], cursor = null;
    const least = d.makespan / (d.exact ? 2e5 : Math.max(20, d.bins / 8));
    const rowHeight = () => Math.max(d.workers > 64 ? 3 : 7, Math.min(26, 420 / d.workers));
    const labels = () => canvas.clientWidth < 500 ? 22 : 34;
    const name = k => d.names[k];

    const draw = () => {
      const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = Math.ceil(rowHeight() * d.workers) + 20;
      if (!width) return;
      canvas.style.height = `${height}px`;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      const c = canvas.getContext("2d");
      c.scale(ratio, ratio);
      colours = d.names.map((_, k) => style(k <= d.colours ? `--t-${k}` : `--s-${d.states[k - d.colours - 1]}`));
      const left = labels(), scale = (width - left) / (to - from), h = rowHeight(), gap = h > 6 ? 1 : 0;
      c.clearRect(0, 0, width, height);
      c.font = "10px system-ui, sans-serif";
      for (let w = 0; w < d.workers; ++w) {
        const y = w * h;
        if (d.exact) drawRow(c, w, y, h - gap, left, scale);
        else drawCells(c, w, y, h - gap, left, scale, width);
        if (h >= 10 || w % Math.ceil(10 / h) === 0) {
          c.fillStyle = style("--soft");
          c.textAlign = "right";
          c.fillText(String(w), left - 5, y + Math.min(h, 10) / 2 + 4);
        }
      }
      c.fillStyle = style("--soft");
      for (let i = 0; i <= 4; ++i) {
        const x = left + (width - left) * i / 4;
        c.textAlign = i === 0 ? "left" : i === 4 ? "right" : "center";
        c.fillText(shown(from + (to - from) * i / 4), x, height - 6);
      }
      if (cursor !== null) {
        c.fillStyle = style("--ink");
        c.fillRect(left + (cursor - from) * scale, 0, 1, height - 18);
      }
      range.textContent = `${shown(from)} to ${shown(to)} of ${shown(d.makespan)}`;
    };
    const found = (w, time) => {  // the interval of worker w at or before a time
      let low = first[w], high = first[w + 1];
      const ticks = time / d.unit;
      while (low < high) { const m = (low + high) >> 1; if (begin[m] <= ticks) low = m + 1; else high = m; }
      return low - 1;
    };
    const drawRow = (c, w, y, h, left, scale) => {
      let painted = -1;
      for (let i = Math.max(first[w], found(w, from)); i < first[w + 1]; ++i) {
        const a = begin[i] * d.unit, b = end[i] * d.unit;
        if (a > to) break;
        if (b < from) continue;
        const x = left + Math.max(0, a - from) * scale, right = left + (Math.min(b, to) - from) * scale;
        if (right - x < 0.3 && right <= painted) continue;  // hidden by what is drawn
        c.fillStyle = colours[kind[i]];
        c.fillRect(x, y, Math.max(right - x, 0.4), h);
        painted = Math.floor(right) + 1;
        if (right - x >= 1) painted = -1;
      }
    };
    const drawCells = (c, w, y, h, left, scale, width) => {
      const cell = d.makespan / d.bins, begins = Math.max(0, Math.floor(from / cell)), ends = Math.min(d.bins, Math.ceil(to / cell));
      const step = Math.max(1, Math.floor((ends - begins) / (width - left)));
      for (let b = begins; b < ends; b += step) {
        let best = w * d.bins + b;
        for (let k = 1; k < step && b + k < ends; ++k) if (share[best + 0] < share[w * d.bins + b + k] && kind[w * d.bins + b + k] !== 255) best = w * d.bins + b + k;
        if (kind[best] === 255) continue;
        c.globalAlpha = 0.35 + 0.65 * share[best] / 255;
        c.fillStyle = colours[kind[best]];
        c.fillRect(left + Math.max(0, b * cell - from) * scale, y, Math.max(cell * step * scale, 0.6) + 0.3, h);
      }
      c.globalAlpha = 1;
      c.clearRect(0, y, left, h);
    };
    const show = (a, b) => {
      const width = Math.min(d.makespan, Math.max(least, b - a));
      from = Math.max(0, Math.min(a, d.makespan - width));
      to = from + width;
      draw();
    };
    const zoom = (factor, middle = cursor !== null && cursor > from && cursor < to ? cursor : (from + to) / 2) =>
      show(middle - (middle - from) * factor, middle + (to - middle) * factor);
    const move = share => { const by = (to - from) * share; if (by < 0) { const a = Math.max(0, from + by); show(a, a + to - from); } else { const b = Math.min(d.makespan, to + by); show(b - (to - from), b); } };
    const moves = { in: () => zoom(0.5), out: () => zoom(2), left: () => move(-0.3), right: () => move(0.3), all: () => show(0, d.makespan) };
    all("[data-do]").forEach(b => b.addEventListener("click", () => moves[b.dataset.do]()));
    const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all", Home: "all" };
    canvas.addEventListener("keydown", e => { if (keys[e.key] && !e.ctrlKey && !e.metaKey) { moves[keys[e.key]](); e.preventDefault(); } });
    const timeAt = x => from + (x - canvas.getBoundingClientRect().left - labels()) / (canvas.clientWidth - labels()) * (to - from);
    canvas.addEventListener("wheel", e => {
      if (!e.deltaY || (!e.ctrlKey && document.activeElement !== canvas && !e.shiftKey)) return;  // else the page scrolls
      e.preventDefault();
      zoom(e.deltaY > 0 ? 1.25 : 0.8, timeAt(e.clientX));
    }, { passive: false });
    const described = (x, y) => {
      const box = canvas.getBoundingClientRect(), w = Math.floor((y - box.top) / rowHeight()), time = timeAt(x);
      if (w < 0 || w >= d.workers || time < from || time > to) return "";
      const where = `worker ${w}${d.node[w] >= 0 ? ` (node ${d.node[w]})` : ""}, ${shown(time)}`;
      if (d.exact) {
        const i = found(w, time);
        if (i < first[w] || end[i] * d.unit < time) return where;
        return `${where}: ${name(kind[i])}${task[i] >= 0 ? `, task ${task[i]}` : ""}, ${shown((end[i] - begin[i]) * d.unit)}`;
      }
      const cell = w * d.bins + Math.min(d.bins - 1, Math.floor(time / d.makespan * d.bins));
      return kind[cell] === 255 ? where : `${where}: ${Math.round(share[cell] / 2.55)} % ${name(kind[cell])} of ${shown(d.makespan / d.bins)}`;
    };
    const fingers = new Map();
    canvas.addEventListener("pointerdown", e => { fingers.set(e.pointerId, e.clientX); canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", e => {
      if (!fingers.has(e.pointerId)) return say(described(e.clientX, e.clientY), e.clientX, e.clientY);
      const before = fingers.get(e.pointerId), scale = (to - from) / (canvas.clientWidth - labels());
      if (fingers.size === 1) {
        const by = (before - e.clientX) * scale;
        show(Math.max(0, Math.min(from + by, d.makespan - (to - from))), Math.max(0, Math.min(from + by, d.makespan - (to - from))) + (to - from));
      } else {
        const other = [...fingers].find(([id]) => id !== e.pointerId)[1];
        const factor = Math.abs(before - other) / Math.max(4, Math.abs(e.clientX - other));
        zoom(Math.min(2, Math.max(0.5, factor)), timeAt((e.clientX + other) / 2));
      }
      fingers.set(e.pointerId, e.clientX);
    });
    const released = e => { fingers.delete(e.pointerId); };
    canvas.addEventListener("pointerup", released);
    canvas.addEventListener("pointercancel", released);
    canvas.addEventListener("pointerleave", () => say(""));
    canvas.addEventListener("click", e => { cursor = timeAt(e.clientX); at.textContent = described(e.clientX, e.clientY); draw(); });
    new ResizeObserver(draw).observe(canvas.parentNode);
    redraws.push(draw);
  }

  function graph(d) {
    const box = one("#graph-box"), svg = one("#graph-svg"), choice = one("#problem"), counted = one("#graph-count"), at = one("#graph-at");
    const nodes = all(".g", svg);
    let last = null;
    choice.addEventListener("change", () => {
      const hits = d.problems[choice.value];
      box.classList.toggle("problem", Boolean(hits));
      let sum = 0;
      nodes.forEach((g, i) => {
        const hit = hits ? hits[i] : 0;
        sum += hit;
        g.classList.toggle("hit", hit > 0);
        g.style.setProperty("--hit", String(hit ? 0.35 + 0.65 * hit / d.groups[i].c : 1));
      });
      counted.textContent = hits ? `${sum} task${sum === 1 ? "" : "s"}` : "";
    });
    const describe = g => {
      const i = Number(g.dataset.g), x = d.groups[i];
      const hit = Object.entries(d.problems).slice(1).filter(([, counts]) => counts[i]).map(([name, counts]) => `${name} (${counts[i]})`);
      at.textContent = `${x.n}: ${x.c} task${x.c === 1 ? "" : "s"} from task ${x.t} on, ${x.w} of work` + (x.c > 1 ? `, median ${x.m}, longest ${x.x}` : "") +
        (x.k ? `, ${x.c > 1 ? `${x.k} ` : ""}on the critical path` : "") + (hit.length ? `. Problems: ${hit.join(", ")}` : "") + ".";
      if (last) last.classList.remove("chosen");
      g.classList.add("chosen");
      last = g;
    };
    // One stop of the tab key for all groups; arrows go from one to the next.
    if (nodes.length) nodes[0].tabIndex = 0;
    nodes.forEach((g, i) => {
      g.addEventListener("click", () => describe(g));
      g.addEventListener("keydown", e => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
        if (step) {
          const next = nodes[(i + step + nodes.length) % nodes.length];
          g.tabIndex = -1;
          next.tabIndex = 0;
          next.focus();
          describe(next);
        } else if (e.key === "Enter" || e.key === " ") describe(g);
        else return;
        e.preventDefault();
      });
    });
    all("[data-graph]").forEach(b => b.addEventListener("click", () => {
      const size = svg.getBoundingClientRect().width * (b.dataset.graph === "in" ? 1.4 : 1 / 1.4);
      svg.style.width = svg.style.minWidth = `${Math.max(200, Math.min(8000, size))}px`;
    }));
  }
})();
