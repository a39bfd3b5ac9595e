// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The chapters with pictures. Each takes the whole report and gives what stands below its heading.

function tiles(r) {
  const row = n => named(r.compare.rows, n), native = row("native"), ours = row("ours-evict");
  const debug = row("ours-debug"), asked = r.acceptance.requirements;
  const nr = what => asked.filter(b => b.result === what).length;
  const tile = (big, what, title) => el("div", { class: "tile", title }, el("b", {}, big), el("span", {}, what));
  const times = row => row.ratio ? digits(row.ratio.p99) + " x" : "never ends";
  return [
    tile(times(native), "p99 of online requests beside training, against alone, with nothing done", r.compare.repeat),
    tile(times(ours), "the same with our kernel module", r.compare.repeat),
    tile(times(debug), "the same with the daemon on a stock kernel", r.compare.repeat),
    tile(time(ours.added.mean, true), "added to an average request (module)", r.compare.repeat),
    tile(percent(ours.offline_goodput), "of what is left of the GPU is kept by training (module)", r.compare.repeat),
    tile(`${nr("met")} of ${asked.length - nr("not tried")}`, `requirements are met in the model; ${nr("not met")} are not, ${nr("not tried")} were not tried`),
  ];
}

function compareChapter(r) {
  const c = r.compare, rows = c.rows.filter(x => x.state !== "not run");
  const p99 = rows.filter(x => x.online).map(x => x.online.p99);
  const lo = Math.min(...p99) / 1.6, hi = Math.max(...p99) * 1.05;
  const latency = w => bars(w, rows.map(x => ({
    name: x.name, ours: isOurs(x.name), title: `${x.name}: ${x.what}`,
    label: (x.online ? time(x.online.p99) : "none served") + (x.state === "saturated" ? " *" : ""),
    parts: [[isOurs(x.name) ? "var(--ours)" : "var(--other)", x.online?.p99 ?? 0]],
  })), { label: "p99 of online requests, log scale", max: hi,
    scale: (a, b) => { const f = log(lo, hi, a, b); return v => v > 0 ? f(v) : a; },
    axis: ticks(lo, hi).map(d => [d, d / 1e6 + " ms"]) });
  const goodput = w => bars(w, rows.filter(x => x.name !== "alone").map(x => ({
    name: x.name, ours: isOurs(x.name), title: `${x.name}: ${x.what}`,
    label: x.offline_goodput === null ? "none" : percent(x.offline_goodput),
    parts: [[isOurs(x.name) ? "var(--ours)" : "var(--other)", x.offline_goodput || 0]],
  })), { label: "offline goodput", max: 1.05, axis: [[0, "0"], [0.5, "50 %"], [1, "100 %"]] });
  const preempting = rows.filter(x => x.breakdown), most = 150e3;
  const parts = w => bars(w, preempting.map(x => ({
    name: x.name, ours: isOurs(x.name), total: x.breakdown.total.mean, label: time(x.breakdown.total.mean),
    title: x.name + ": " + PARTS.map(p => `${p} ${time(x.breakdown[p].mean)}`).join(", "),
    parts: PARTS.map(p => [`var(--${p})`, x.breakdown[p].mean]),
  })), { label: "the five parts of a preemption, mean", max: most, cut: true,
    axis: [0, 50e3, 100e3, 150e3].map(v => [v, v ? time(v) : "0"]) });
  const alone = named(rows, "alone");
  return [
    el("p", {}, "The same requests at the same times in every row, so request number i is the same request everywhere. ",
      el("code", {}, "alone"), " has the GPU for itself, ", el("code", {}, "native"), " is what happens today, ",
      el("code", {}, "bound"), " sees and decides in no time and pays only the device's costs."),
    el("div", { class: "pair" },
      chart("fig-p99", "p99 of online requests, log scale. * did not serve every request.", latency),
      chart("fig-goodput", "Offline goodput: offline work done, of what fits beside the online work alone.", goodput)),
    chart("fig-parts", "The five parts of a preemption, mean, of every row that preempts. A broken bar goes on to the right.", parts, partKey()),
    el("h3", {}, "How long requests take"),
    el("figure", { id: "fig-cdf", "data-figure": "fig-cdf" },
      el("div", { class: "many" }, rows.map(x => cdf(x, alone, c.quantiles))),
      el("figcaption", {}, "Share of requests (upwards, towards the tail) served within a time (to the right, log scale); " +
        "the thin curve is alone. A curve that ends early did not serve the rest.")),
    compareTable(rows, c), repeats([c.repeat]),
  ];
}

function cdf(row, alone, quantiles) {
  const draw = width => {
    const height = 118, left = 34, bottom = height - 20, right = width - 8;
    const svg = canvas(width, height, `latency of online requests, ${row.name}`);
    const x = log(1.5e6, 2e8, left, right), tail = q => Math.min(3, -Math.log10(Math.max(1 - q, 1e-3)));
    const y = linear(0, 3, bottom, 8);
    for (const [q, t] of [[0, "0"], [0.5, "50 %"], [0.9, "90 %"], [0.99, "99 %"], [0.999, "99.9"]]) {
      svg.append(s("line", { class: "grid", x1: left, x2: right, y1: y(tail(q)), y2: y(tail(q)) }));
      if (q !== 0.5) svg.append(text(left - 4, y(tail(q)) + 4, t, { "text-anchor": "end", class: "soft", style: "font-size:10px" }));
    }
    for (const v of [2e6, 1e7, 1e8])
      svg.append(text(x(v), height - 6, v / 1e6 + " ms", { "text-anchor": "middle", class: "soft", style: "font-size:10px" }));
    const line = r => r.cdf.map((v, i) => v === null ? null :
      `${x(Math.min(v, 2e8)).toFixed(1)},${y(tail(quantiles[i])).toFixed(1)}`).filter(p => p).join(" ");
    svg.append(s("polyline", { class: "ghost", points: line(alone) }));
    if (row !== alone) svg.append(s("polyline", { class: "curve", points: line(row),
      style: `stroke:var(${isOurs(row.name) ? "--ours" : "--other"})` }));
    return svg;
  };
  return el("div", { title: row.what },
    el("strong", { style: isOurs(row.name) ? "color:var(--ours)" : "" }, row.name), small(draw));
}

function compareTable(rows, c) {
  return el("details", {}, el("summary", {}, "all figures as a table"), table(
    `Scenario ${c.scenario}, ${time(c.length)} of virtual time. x: against the same requests alone.`, [
      ["row", x => [x.name, x.what]], ["mean", x => time(x.online?.mean), true], ["p99", x => time(x.online?.p99), true],
      ["worst", x => time(x.online?.max), true], ["x mean", x => plain(x.ratio && x.ratio.mean), true],
      ["x p99", x => plain(x.ratio && x.ratio.p99), true], ["added mean", x => x.added ? time(x.added.mean, true) : "-", true],
      ["goodput", x => plain(x.offline_goodput), true], ["preemptions", x => count(x.preemptions), true],
      ["processor", x => percent(x.monitor_cpu), true],
      ["state", x => x.state + (x.work_lost ? `, lost ${count(x.work_lost)}` : "") + (x.work_doubled ? `, doubled ${count(x.work_doubled)}` : "")],
    ], rows));
}

// ---- one preemption ----

function stepsChapter(r) {
  const st = r.steps, shown = ["monitor-5ms", "monitor-1ms", "manual", "ours-debug", "ours-evict", "ours-direct", "ours-hint"];
  const pick = set => shown.map(n => named(set.rows, n)).filter(x => x);
  const draw = (set, max, axis) => w => bars(w, pick(set).map(x => ({
    name: x.name, ours: isOurs(x.name), total: x.total, label: us(x.total),
    title: x.name + ": " + PARTS.map(p => `${p} ${us(x.parts[p])}`).join(", "),
    parts: PARTS.map(p => [`var(--${p})`, x.parts[p]]),
  })), { label: "one preemption at the worst moment", max, cut: true, axis: axis.map(v => [v, v ? us(v) : "0"]) });
  const theirs = pick(st.noted_costs), ours = n => named(st.our_costs.rows, n);
  return [
    el("p", {}, "A monitor that wakes every 5 ms may have looked just before the work came. These are preemptions at that worst " +
      "moment. First with the costs of the design notes this project started from, which must come to the sums of the notes; then with ours."),
    chart("fig-steps", "With the costs of the design notes, whole: almost all of it is waiting for the next look.",
      draw(st.noted_costs, 5200, [0, 1000, 2000, 3000, 4000, 5000]), partKey()),
    chart("fig-steps-ours", "With our costs (grace, run list, bytes saved), the first 160 us: a broken bar goes on to the right.",
      draw(st.our_costs, 160, [0, 40, 80, 120, 160]), partKey()),
    table("Sums of the design notes beside ours, same costs, worst moment.", [
      ["way", x => [x.name, x.what]], ["design notes", x => x.design_notes ? exact(x.design_notes.value) : "-", true],
      ["simulator, costs of the notes", x => exact(x.total), true], ["agrees", x => x.design_notes ? yes(x.agrees) : "-"],
      ["simulator, our costs", x => exact((ours(x.name) || {}).total), true],
    ], theirs),
    chart("fig-lanes", "Every step after the look that sees the work, one after the other. Waiting for that look is not to scale: its time is written in it. " +
      "The steps of the design notes one by one come to more than the sums of the notes, which leave some out.", w => lanes(w, st), partKey()),
    el("div", { class: "pair" },
      table("Steps of the design notes, in order.", [["", x => x.nr, true],
        ["step", x => named2(x), "prose"], ["takes", x => range(x), true], ["part", x => x.part || "-"],
      ], st.design_notes.steps.map((x, i) => ({ ...x, nr: i + 1 }))),
      table("Steps of ours-evict, in order: simulated parts, divided by facts of the model.", [["", x => x.nr, true],
        ["step", x => named2(x), "prose"], ["takes", x => us(x.value), true], ["part", x => x.part],
      ], ourSteps(st).map((x, i) => ({ ...x, nr: String.fromCharCode(97 + i) })))),
    repeats([st.noted_costs.repeat, st.our_costs.repeat]),
  ];
}
const named2 = x => el("span", {}, x.name, x.note ? el("small", { class: "soft" }, el("br"), x.note) : null);

// What ours does, finer than the five parts: facts where there are any, the rest of a part otherwise.
function ourSteps(st) {
  const parts = named(st.our_costs.rows, "ours-evict").parts, steps = [{ name: "wait for the look", part: "detect", value: parts.detect }];
  for (const p of PARTS.slice(1)) {
    const known = st.our_steps.steps.filter(x => x.part === p), rest = parts[p] - known.reduce((a, x) => a + x.value, 0);
    steps.push(...known);
    if (rest > 0.05) steps.push({ name: p === "save" ? "save: the bytes of the waves" : `${p}: the rest`, part: p, value: rest });
  }
  return steps;
}

function lanes(width, st) {
  const noted = st.design_notes.steps.map((x, i) => ({ ...x, mark: String(i + 1), value: x.high }));
  const wait = noted.find(x => x.part === "detect"), after = noted.filter(x => x !== wait && x.name.indexOf("submit") !== 0);
  const ours = ourSteps(st).map((x, i) => ({ ...x, mark: String.fromCharCode(97 + i) }));
  const of = n => named(st.noted_costs.rows, n).parts.detect;
  const all = [["5 ms monitor", "2", us(of("monitor-5ms")), after], ["1 ms monitor", "2", us(of("monitor-1ms")), after],
    ["by hand", "2", "no wait", after], ["ours-evict", "a", us(ours[0].value), ours.slice(1)]];
  const left = Math.min(110, Math.max(88, width * 0.2)), box = 74, x0 = left + box, step = 52, top = 28;
  const svg = canvas(width, top + all.length * step, "every step of a preemption on a time axis");
  const x = linear(0, 40, x0, width - 14);
  for (const t of [0, 10, 20, 30, 40]) {
    svg.append(s("line", { class: "grid", x1: x(t), x2: x(t), y1: top - 6, y2: top + all.length * step - 8 }));
    if (t % 20 === 0 || width > 500)
      svg.append(text(x(t), top - 12, t ? t + " us" : "look", { "text-anchor": t === 40 ? "end" : "middle", class: "soft" }));
  }
  all.forEach(([name, mark, waits, steps], i) => {
    const y = top + i * step, mine = name.startsWith("ours");
    svg.append(text(left - 8, y + 17, name, { "text-anchor": "end", class: mine ? "strong" : "", style: mine ? "fill:var(--ours)" : "" }));
    svg.append(s("rect", { x: left, y: y + 2, width: box - 3, height: 22, style: "fill:none;stroke:var(--detect);stroke-dasharray:3 2" },
      s("title", {}, `${mark}: waits for the look, ${waits}`)), text(left + (box - 3) / 2, y + 17, waits, { "text-anchor": "middle" }));
    let at = 0, mark_at = -99;
    for (const one of steps) {
      const a = x(at), b = x(at + one.value), middle = (a + b) / 2;
      svg.append(s("rect", { x: a, y: y + 2, width: Math.max(1, b - a - 1), height: 22, style: `fill:var(--${one.part || "ghost"})` },
        s("title", {}, `${one.mark}: ${one.name}, ${us(one.value)}`)));
      if (middle - mark_at > 9) {
        svg.append(text(middle, y + 37, one.mark, { "text-anchor": "middle", class: "soft" }));
        mark_at = middle;
      }
      at += one.value;
    }
  });
  return svg;
}
const yes = b => el("span", { class: b ? "pass" : "fail" }, b ? "yes" : "no");

// ---- how it scales ----

const COLOURS = { native: "var(--s3)", drain: "var(--s4)", "ours-debug": "var(--s2)", "ours-evict": "var(--s1)",
  "ours-hint": "var(--s5)", bound: "var(--s4)", "monitor-1ms": "var(--s2)" };

function sweepChart(w) {
  const names = w.points[0].rows.map(x => x.name), xs = w.points.map(p => p.x);
  const at = (p, n) => { const o = named(p.rows, n); return o.state === "ok" ? Math.max(o.added_mean / 1e3, 0.1) : null; };
  const series = names.map(n => ({ name: n, colour: COLOURS[n] || "var(--s3)", dash: n === "bound" ? "4 3" : null,
    points: w.points.map(p => [p.x, at(p, n)]) }));
  const ys = series.flatMap(o => o.points.map(p => p[1])).filter(v => v !== null);
  const y = [10 ** Math.floor(Math.log10(Math.min(...ys))), 10 ** Math.ceil(Math.log10(Math.max(...ys, 100)))];
  const even = w.name === "rate";
  const xtext = v => w.x_unit === "us" ? us(v) : digits(v).replace(/\.0+$/, "") + (w.x_unit ? " " + w.x_unit : "");
  const draw = width => curves(width, series, { label: `added latency against ${w.axis}`, xs,
    even, x: even ? [0, xs[xs.length - 1]] : [xs[0] * 0.93, xs[xs.length - 1] * 1.07], y, xtext: v => xtext(v), ytext: us, xlabel: w.axis, ylabel: "mean added latency" });
  return chart("fig-scale-" + w.name, `Added latency against: ${w.axis}.` + (w.name === "queues" ? " 1000 are two processes of 500." : ""), draw, key(series.map(o => [o.name, o.colour])));
}

function scaleChapter(r) {
  const unit = w => v => v === null ? "-" : w.x_unit === "us" ? us(v) : digits(v).replace(/\.0+$/, "") + (w.x_unit ? " " + w.x_unit : "");
  const lines = r.scale.sweeps.flatMap(w => w.limits.filter(l => isOurs(l.name)).map(l => {
    const show = unit(w), head = [el("strong", {}, l.name), ", ", w.axis + ": "];
    if (l.bad_from === null) return el("span", {}, head, `good up to ${show(l.good_until)}, the end of what was tried.`);
    const until = l.good_until === null ? "not even good at " + show(l.bad_from)
      : `good up to ${show(l.good_until)}, no longer at ${show(l.bad_from)}`;
    return el("span", {}, head, `${until}: ${l.what}; ${l.why}.`);
  }));
  return [
    el("p", {}, "One thing of the scenario is changed at a time. Latency is what is added to an average request, against the same requests alone; " +
      "a cross at the top means that not every request was served." +
      (r.quick ? " The runs of --quick are so short that a p99 is one or two requests: limits may come out lower than they are." : "")),
    el("div", { class: "pair" }, r.scale.sweeps.map(sweepChart)),
    el("h3", {}, "Where it stops being good, and why"),
    el("p", { class: "soft" }, `Good means: ${r.scale.good}. The sentences are derived from the points above.`),
    said(lines),
    table("The same for every way that was tried.", [
      ["what grows", x => x.axis], ["way", x => el("span", { class: "whole" }, x.name)], ["good until", x => x.until, true], ["bad from", x => x.from, true],
      ["what", x => x.what, "prose"], ["why", x => x.why, "prose"],
    ], r.scale.sweeps.flatMap(w => w.limits.map(l => ({ ...l, axis: w.axis, ours: isOurs(l.name),
      until: unit(w)(l.good_until), from: unit(w)(l.bad_from) })))),
    repeats(r.scale.sweeps.flatMap(w => w.points.map(p => p.repeat))),
  ];
}

// ---- doubts ----

function doubtChapter(r) {
  const f = r.frontier, b = r.robust;
  const draw = width => {
    const height = 260, left = 58, bottom = height - 44, right = width - 20, top = 20;
    const xs = f.points.map(p => p.added_mean / 1e3), ys = f.points.map(p => p.offline_goodput);
    const svg = canvas(width, height, "added latency against goodput for linger learnt and fixed");
    const lo = Math.min(...ys) - 0.01, hi = Math.max(...ys) + 0.005, far = Math.max(...xs) * 1.05;
    const x = linear(0, far, left, right), y = linear(lo, hi, bottom, top);
    for (let i = 0; i <= 4; i++) {
      const v = lo + (hi - lo) * i / 4, h = far * i / 4;
      svg.append(s("line", { class: "grid", x1: left, x2: right, y1: y(v), y2: y(v) }),
        text(left - 6, y(v) + 4, percent(v), { "text-anchor": "end", class: "soft" }),
        i % 2 && width < 400 ? "" : text(x(h), bottom + 17, h ? us(h) : "0", { "text-anchor": i === 4 ? "end" : "middle", class: "soft" }));
    }
    svg.append(text(left, 10, "offline goodput", { class: "soft" }),
      text(right, height - 6, "mean added latency", { "text-anchor": "end", class: "soft" }));
    f.points.forEach((p, i) => svg.append(s(p.fixed ? "rect" : "circle", p.fixed ?
      { x: x(xs[i]) - 4, y: y(ys[i]) - 4, width: 8, height: 8, style: "fill:var(--other)" } :
      { cx: x(xs[i]), cy: y(ys[i]), r: 5, style: "fill:var(--ours)" },
    s("title", {}, `${p.name}: ${time(p.added_mean)}, ${percent(p.offline_goodput)}`))));
    return svg;
  };
  return [
    el("p", {}, b.changed ? `With every assumed cost halved or tripled, ${b.changed} pairs of rows change places by p99: ` +
      b.swapped.map(p => p.join(" and ")).join("; ") + "." :
      "Many costs are assumed. With every assumed cost halved, and with every one tripled, the order of all rows by p99 stays the same (rows closer than 1 % count as one place)."),
    el("p", {}, `How long a victim stays off after the last kernel (its linger) is learnt from the gaps seen. ` +
      (f.fixed_dominates ? "A fixed linger beats what is learnt by more than 2 %." : "No fixed linger beats it by more than 2 % in both.")),
    chart("fig-frontier", `Scenario ${f.scenario}: each point is a setting; up and to the left is better.`, draw,
      key([["learnt, with a price on latency", "var(--ours)"], ["fixed by hand", "var(--other)"]])),
    repeats([b.repeat, f.repeat]),
  ];
}
