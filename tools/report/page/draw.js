// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Drawing of anything: elements, tables, axes, bars and curves. Knows nothing of chapters.

const SVG = "http://www.w3.org/2000/svg";
const PARTS = ["detect", "decide", "command", "save", "switch"];

function el(name, attributes, ...children) {
  const e = name.startsWith("svg:") ? document.createElementNS(SVG, name.slice(4))
    : document.createElement(name);
  for (const [k, v] of Object.entries(attributes || {}))
    if (v !== null && v !== undefined && v !== "") e.setAttribute(k, v);
  for (const c of children.flat())
    if (c !== null && c !== undefined) e.append(c);
  return e;
}
const s = (name, attributes, ...children) => el("svg:" + name, attributes, ...children);

// ---- numbers ----

function digits(v) {
  const a = Math.abs(v);
  return a >= 100 ? v.toFixed(0) : a >= 10 ? v.toFixed(1) : a >= 1 ? v.toFixed(2) : v.toFixed(3);
}
// Nanoseconds for people.
function time(ns, sign) {
  if (ns === null || ns === undefined) return "-";
  if (ns === 0) return sign ? "+0" : "0";
  const a = Math.abs(ns), plus = sign && ns >= 0 ? "+" : "";
  const [per, unit] = a >= 1e9 ? [1e9, "s"] : a >= 1e6 ? [1e6, "ms"] : a >= 1e3 ? [1e3, "us"] : [1, "ns"];
  return plus + (unit === "ns" ? ns.toFixed(0) : digits(ns / per)) + "\u00a0" + unit;
}
// A sum that is to be compared digit by digit.
const exact = v => v === null || v === undefined ? "-" : v >= 1000 ? (v / 1000).toFixed(3) + "\u00a0ms" : v.toFixed(1) + "\u00a0us";
const us = v => v === null || v === undefined ? "-" : time(v * 1000);
const percent = (v, n = 1) => v === null || v === undefined ? "-" : (100 * v).toFixed(n) + "\u00a0%";
const plain = (v, n = 3) => v === null || v === undefined ? "-" : v.toFixed(n);
const count = v => v === null || v === undefined ? "-" : String(v).replace(/\B(?=(\d{3})+$)/g, "\u00a0");
function range(o, show = us) {
  if (!o) return "-";
  return o.low === o.high ? show(o.low) : show(o.low) + " to " + show(o.high);
}
const isOurs = name => name.startsWith("ours");
const named = (list, name) => list.find(o => o.name === name);

// ---- tables ----

// columns: [title, row => cell or [cell, title], true: numbers, "prose": sentences]; groups by rows that have .group
function table(caption, columns, rows) {
  const kind = c => c[2] === true ? "n" : c[2] || "";
  const head = el("tr", {}, columns.map(c => el("th", { scope: "col", class: kind(c) }, c[0])));
  const body = rows.map(row => {
    if (row.group) return el("tr", { class: "group" }, el("th", { colspan: columns.length, scope: "rowgroup" }, row.group));
    return el("tr", { class: row.ours || isOurs(row.name || "") ? "ours" : "" }, columns.map((c, i) => {
      let cell = c[1](row), title = null;
      if (Array.isArray(cell)) [cell, title] = cell;
      return el(i ? "td" : "th", { class: kind(c), scope: i ? null : "row", title }, cell);
    }));
  });
  return el("div", {}, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("thead", {}, head), el("tbody", {}, body))), el("p", { class: "under" }, caption));
}

const said = lines => el("ul", { class: "said" }, lines.map(l => el("li", {}, l)));
const tag = source => el("span", { class: "tag" }, source);
const repeats = commands => el("details", {}, el("summary", {}, "what repeats this"),
  el("ul", { class: "said" }, [...new Set(commands)].map(c => el("li", {}, el("code", {}, c)))));

function key(entries) {
  return el("ul", { class: "key" }, entries.map(([name, colour]) =>
    el("li", {}, el("i", { style: "background:" + colour }), name)));
}
const partKey = () => key(PARTS.map(p => [p, `var(--${p})`]));

// ---- charts: drawn at the width there is, again when that changes ----

const charts = [];
function redraw() {
  for (const c of charts) {
    const width = Math.floor(c.box.clientWidth);
    if (width > 0 && width !== c.width) {
      c.width = width;
      c.box.replaceChildren(c.draw(width));
    }
  }
}
window.addEventListener("resize", redraw);

// draw(width) gives an svg.
function chart(id, caption, draw, before) {
  const box = el("div", {});
  charts.push({ box, draw, width: 0 });
  return el("figure", { id, "data-figure": id }, before, box, el("figcaption", {}, caption));
}
function small(draw) {
  const box = el("div", {});
  charts.push({ box, draw, width: 0 });
  return box;
}
function canvas(width, height, label) {
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label },
    s("title", {}, label));
}

const linear = (lo, hi, a, b) => v => a + (b - a) * (v - lo) / (hi - lo);
function log(lo, hi, a, b) {
  const l = Math.log(lo), h = Math.log(hi);
  return v => a + (b - a) * (Math.log(Math.max(v, lo)) - l) / (h - l);
}
function decades(lo, hi) {
  const out = [];
  for (let d = Math.floor(Math.log10(lo) + 1e-9); d <= Math.log10(hi) + 1e-9; d++)
    if (10 ** d >= lo * 0.999) out.push(10 ** d);
  return out;
}
// Ones, twos and fives: for an axis of a decade or two.
function ticks(lo, hi) {
  return decades(lo / 10, hi).flatMap(d => [d, 2 * d, 5 * d]).filter(v => v >= lo && v <= hi);
}
const text = (x, y, what, more) => s("text", { x, y, ...more }, what);
// Rough width of a text of 12 px; enough to decide where a label fits.
const breadth = what => what.length * 6.6;

// Horizontal bars, one row each. rows: {name, value, label, parts: [[class, value]], ours}
function bars(width, rows, { label, max, cut, scale, axis }) {
  const left = Math.min(130, Math.max(96, width * 0.22)), right = 92, step = 24, top = axis ? 26 : 6;
  const svg = canvas(width, top + rows.length * step + 6, label);
  const x = scale ? scale(left, width - right) : linear(0, max, left, width - right);
  let free = -99;
  for (const t of axis || []) {
    svg.append(s("line", { class: "grid", x1: x(t[0]), x2: x(t[0]), y1: top - 4, y2: top + rows.length * step }));
    if (x(t[0]) - breadth(t[1]) / 2 < free) continue;
    free = x(t[0]) + breadth(t[1]) / 2 + 6;
    svg.append(text(x(t[0]), top - 10, t[1], { "text-anchor": "middle", class: "soft" }));
  }
  rows.forEach((row, i) => {
    const y = top + i * step, g = s("g", {}, s("title", {}, row.title || `${row.name}: ${row.label}`));
    g.append(text(left - 8, y + 15, row.name, { "text-anchor": "end", class: row.ours ? "strong" : "",
      style: row.ours ? "fill:var(--ours)" : "" }));
    let at = left;
    for (const [colour, value] of row.parts) {
      const end = Math.min(x(Math.min((row.from || 0) + value, max)), width - right);
      const w = row.parts.length > 1 ? Math.max(0, x(Math.min(value, max)) - left) : end - left;
      const shown = Math.max(value > 0 ? 1 : 0, Math.min(w, width - right - at));
      g.append(s("rect", { x: at, y: y + 3, width: shown, height: 16, style: "fill:" + colour }));
      at += shown;
    }
    if (cut && row.total > max) {
      const e = width - right;
      g.append(s("path", { d: `M${e - 7} ${y} l5 11 l-5 11 M${e - 2} ${y} l5 11 l-5 11`,
        style: "fill:none;stroke:var(--panel);stroke-width:3" }));
      at = e + 4;
    }
    g.append(text(at + 6, y + 15, row.label));
    svg.append(g);
  });
  return svg;
}

// Curves; y is logarithmic, x too unless told. series: {name, colour, dash, points: [[x, y]]}
function curves(width, series, { label, xs, x, y, even, xlabel, ylabel, xtext, ytext }) {
  const height = Math.max(240, Math.min(320, width * 0.6)), left = 58, bottom = height - 44, top = 22;
  const right = width - 16;
  const svg = canvas(width, height, label);
  const px = (even ? linear : log)(x[0], x[1], left, right), py = log(y[0], y[1], bottom, top);
  for (const t of decades(y[0], y[1])) {
    svg.append(s("line", { class: "grid", x1: left, x2: right, y1: py(t), y2: py(t) }));
    svg.append(text(left - 6, py(t) + 4, ytext(t), { "text-anchor": "end", class: "soft" }));
  }
  let last = -99;
  for (const t of xs) {
    svg.append(s("line", { class: "axis", x1: px(t), x2: px(t), y1: bottom, y2: bottom + 4 }));
    if (px(t) - last < breadth(xtext(t)) + 8) continue;
    last = px(t);
    svg.append(text(Math.min(px(t), right - breadth(xtext(t)) / 2 + 8), bottom + 17, xtext(t),
      { "text-anchor": "middle", class: "soft" }));
  }
  svg.append(s("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }));
  svg.append(text(left, 12, ylabel, { class: "soft" }));
  svg.append(text(right, height - 6, xlabel, { "text-anchor": "end", class: "soft" }));
  for (const one of series) {
    const g = s("g", {}, s("title", {}, one.name));
    const inside = one.points.filter(p => p[1] !== null);
    g.append(s("polyline", { class: "curve", style: `stroke:${one.colour}`, "stroke-dasharray": one.dash,
      points: inside.map(p => `${px(p[0]).toFixed(1)},${py(Math.min(p[1], y[1])).toFixed(1)}`).join(" ") }));
    for (const p of one.points) {
      if (p[1] !== null) {
        g.append(s("circle", { cx: px(p[0]), cy: py(Math.min(p[1], y[1])), r: 3, style: `fill:${one.colour}` },
          s("title", {}, `${one.name} at ${xtext(p[0])}: ${ytext(p[1])}`)));
      } else {
        g.append(s("path", { d: `M${px(p[0]) - 4} ${top - 4} l8 8 m0 -8 l-8 8`,
          style: `stroke:${one.colour};stroke-width:2;fill:none` },
        s("title", {}, `${one.name} at ${xtext(p[0])}: does not serve every request`)));
      }
    }
    svg.append(g);
  }
  return svg;
}
