// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The chapters that are tables, and the order of all.

function acceptanceChapter(r) {
  const names = { must: "Must be met (design notes)", should: "Should be met (design notes)", nice: "Nice to have (design notes)", own: "This project's own goals" };
  const rows = [];
  for (const level of Object.keys(names)) {
    rows.push({ group: names[level] });
    rows.push(...r.acceptance.requirements.filter(b => b.level === level));
  }
  const value = b => b.value === null ? "-" : (Number.isInteger(b.value) ? count(b.value) : digits(b.value)) + (b.unit ? " " + b.unit : "");
  const taken = named(named(r.scale.sweeps, "rate").points, "50").online_share;
  const result = b => el("span", { class: b.result === "met" ? "pass" : b.result === "not met" ? "fail" : "open" }, b.result);
  return [
    el("p", {}, "What the design notes this project started from (doc/background.md) ask for, what they expected, and the result in the model. The command exits with 1 if a requirement that must or should be met is not."),
    table("Rest the pointer on a figure for the command that repeats it.", [
      ["requirement", b => b.claim], ["", result], ["result in the model", b => [value(b), b.repeat], true],
      ["limit", b => b.accepted], ["design notes expect", b => b.expected || "-"], ["from", b => b.source ? tag(b.source) : ""],
    ], rows),
    el("p", {}, "The design notes do not say against what an offline loss counts. Here it counts against what the online requests leave, which themselves take " +
      `${percent(taken)} of the GPU. Against a GPU of its own, offline work loses ${percent(1 - (1 - taken) * named(r.compare.rows, "ours-evict").offline_goodput)} (module).`),
    el("p", {}, `${r.suite.nr_scenarios} scenarios state ${r.suite.expectations} expectations of their own; ` +
      (r.suite.as_written ? `${r.suite.failed} of them do not hold.` : "they were cut short here, and so show nothing.")),
    el("details", {}, el("summary", {}, "each scenario"), table("Scenarios as they are written.", [
      ["scenario", x => [x.name, x.repeat]], ["preemptions", x => count(x.preemptions), true],
      ["lost", x => count(x.work_lost), true], ["done twice", x => count(x.work_doubled), true],
      ["expects", x => said(x.expectations.map(e => el("span", { class: e.holds ? "" : "fail" }, e.holds ? e.expects : e.why)))],
    ], r.suite.scenarios)),
    repeats(r.acceptance.requirements.map(b => b.repeat).filter(c => /^(gpreempt|lab|\.\/run)/.test(c))),
  ];
}

function betterChapter(r) {
  const show = m => v => m.unit === "ns" ? time(v) : m.name === "processor time" ? percent(v) : plain(v);
  const lines = r.better.metrics.map(m => {
    const f = show(m), head = el("strong", {}, m.name + ": ");
    if (!m.better.length) return el("span", {}, head, `none; the best of ours is ${m.best_of_ours} with ${f(m.ours)}.`);
    const shown = m.better.slice(0, 6).map(b => `${b.name} ${f(b.value)}${b.saturated ? " (does not serve every request)" : ""}`);
    return el("span", {}, head, shown.join(", "), m.better.length > 6 ? ` and ${m.better.length - 6} more` : "",
      `; the best of ours is ${m.best_of_ours} with ${f(m.ours)}`, m.with_hints !== null ? `, with hints ${f(m.with_hints)}` : "", ".");
  });
  const what = [...new Map(r.better.metrics.flatMap(m => m.better).map(b => [b.name, b.what]))];
  return [
    el("p", {}, "Rows that beat the best of ours by more than 1 %, whatever they cost elsewhere. A server that announces its requests helps every design, so ours is taken without hints."),
    said(lines),
    el("details", {}, el("summary", {}, "what these rows are"), said(what.map(([n, w]) => `${n}: ${w}`))),
    repeats([r.better.repeat]),
  ];
}

function interfacesChapter(r) {
  const lab = op => r.lab && r.lab.costs && op ? named(r.lab.costs.rows, op + "-8") : null;
  const cost = op => { const o = lab(op); return o ? [count(o.cost.median), r.lab.costs.repeat] : "-"; };
  const device = op => { const o = lab(op); return o ? [time(o.modelled_ns), r.lab.costs.repeat] : "-"; };
  const whole = op => lab(op).cost.median + lab(op).modelled_ns;
  const slower = r.interfaces.claims.filter(x => lab(x.lab_slow) && lab(x.lab_fast) && whole(x.lab_slow) < whole(x.lab_fast));
  const times = x => lab(x.lab_slow) && lab(x.lab_fast) ? [digits(whole(x.lab_slow) / whole(x.lab_fast)) + " x", r.lab.costs.repeat] : "-";
  return [
    el("p", {}, "The design notes compare three ways into the driver and claim that the second is 50 to 500 times as fast as the first. Here each stops and starts the same training job."),
    table("A stop is from the decision until the victim is off, a start until it is back on. Simulator.", [
      ["interface", x => el("span", {}, x.name, el("small", {}, x.what))], ["design notes", x => range(x.design_notes), true],
      ["stop, mean", x => [us(x.switches.stop_mean), x.switches.repeat], true], ["worst", x => us(x.switches.stop_max), true],
      ["start, mean", x => [us(x.switches.start_mean), x.switches.repeat], true], ["worst", x => us(x.switches.start_max), true],
      ["added to a request", x => x.figures ? time(x.figures.added_mean, true) : "-", true],
      ["goodput", x => plain(x.figures && x.figures.goodput), true],
    ], r.interfaces.rows.map(x => ({ ...x, ours: isOurs(x.row) }))),
    r.lab && table("The same in the lab, 8 queues, by the real driver and by gpreempt.ko beside it: instructions executed, and time of the modelled device. The suspend asks for the shortest grace; the module is left with the driver's own here, 31 us, which gpreemptd would shorten (see on the real driver, by what preempts). Direct spins until its fence comes, and that is in its instructions.", [
      ["interface", x => x.name], ["stop, instructions", x => cost(x.lab_stop), true], ["stop, device", x => device(x.lab_stop), true],
      ["start, instructions", x => cost(x.lab_start), true], ["start, device", x => device(x.lab_start), true],
    ], r.interfaces.rows.filter(x => lab(x.lab_stop))),
    table("The claim beside the result in the model. Lab: instructions, each taken for a nanosecond, and the time of the modelled device.", [
      ["claim", x => x.claim], ["design notes", x => digits(x.design_notes.value) + " x", true],
      ["simulator", x => [digits(x.result.value) + " x", x.result.repeat], true],
      ["lab, 8 queues", times, true], ["holds", x => yes(x.holds)],
    ], r.interfaces.claims),
    el("p", {}, r.interfaces.claims.some(c => c.holds) ? "" :
      "It does not hold in the model: the design notes take a millisecond for the driver's eviction, which is one unmap and one run list. " +
      `What factor there is in the simulator rests on ${time(named(r.sources.facts, "debug_copy").value)} assumed for copying control stacks. ` +
      (slower.length ? "In the lab the second is even the slower one, mostly by that grace. " : "") +
      "What stage 2 gives is that it does not copy control stacks on the way, and that it stops several processes in one cycle (see how it scales)."),
    repeats([r.interfaces.repeat, ...r.interfaces.rows.map(x => x.switches.repeat)]),
  ];
}

function placementsChapter(r) {
  const lab = x => { const o = x.lab && r.lab && r.lab.colocate ? named(r.lab.colocate.rows, x.lab) : null; return o; };
  const alone = r.lab && r.lab.colocate ? named(r.lab.colocate.rows, "alone") : null;
  const arrival = x => { const o = x.lab_arrival && r.lab && r.lab.arrival ? named(r.lab.arrival.rows, x.lab_arrival) : null;
    return o ? [time(o.wave_ns.median), r.lab.arrival.repeat] : "-"; };
  const cell = (x, k, f) => x[k] ? [f(x[k]), x[k].repeat] : "-";
  return [
    el("p", {}, "Where the monitor lives, by the design notes and in the model. The worst moment is a look just before the work came; " +
      "a random moment is the mean over the requests of colocate."),
    table("Latency of a preemption, and what a look costs." + (alone ? ` Lab: mean of online requests on the real driver, which alone take ${us(alone.mean)}; ` +
      "and from an arrival to its first wave, median." : ""), [
      ["placement", x => el("span", {}, x.name, x.note ? el("small", {}, x.note) : null)], ["design notes: latency", x => range(x.design_notes), true],
      ["worst, costs of the notes", x => cell(x, "noted_costs", o => us(o.worst)), true],
      ["worst, our costs", x => cell(x, "our_costs", o => us(o.worst)), true],
      ["random, our costs", x => x.figures && x.figures.parts ? [time(x.figures.parts.total), r.placements.repeat] : "-", true],
      ["design notes: a look at 32 queues", x => range(x.design_notes_check), true],
      ["a look at 32 queues", x => cell(x, "our_costs_32_queues", o => us(o.check)), true],
      ["processor", x => x.figures ? percent(x.figures.monitor_cpu) : "-", true],
      ["lab: online mean", x => lab(x) ? [us(lab(x).mean), r.lab.colocate.repeat] : "-", true],
      ["lab: to first wave", arrival, true],
    ], r.placements.rows.map(x => ({ ...x, ours: isOurs(x.row) }))),
    repeats(r.placements.rows.flatMap(x => [x.noted_costs, x.our_costs, x.our_costs_32_queues].filter(o => o).map(o => o.repeat))),
  ];
}

function vendorsChapter(r) {
  const profiles = r.vendors.profiles, of = (p, n) => named(p.rows, n);
  const names = [...new Set(profiles.flatMap(p => p.rows.map(x => x.name)))];
  const part = (p, k) => { const o = of(p, "ours-evict"); return o && o.parts ? [time(o.parts[k]), p.repeat] : "-"; };
  const draw = w => bars(w, profiles.map(p => { const o = of(p, "ours-evict"); return {
    name: p.name, total: o.parts.total, label: time(o.parts.total), title: PARTS.map(k => `${k} ${time(o.parts[k])}`).join(", "),
    parts: PARTS.map(k => [`var(--${k})`, o.parts[k]]) }; }), { label: "five parts by device", max: 110e3,
    axis: [0, 50e3, 100e3].map(v => [v, v ? time(v) : "0"]) });
  const bytes = n => of(named(profiles, n), "ours-evict").bytes_per_save, mega = v => (v / 1e6).toFixed(1) + "\u00a0MB";
  const save = n => of(named(profiles, n), "ours-evict").parts.save, faster = save("a100") / save("mi308x");
  return [
    el("p", {}, "The design notes expect AMD to trigger without a system call and to save waves ten times as fast as NVIDIA saves thread blocks. The same scheduler and the same " +
      "requests on three devices of the model; the A100 row times its own context switch (44 MB in about 40 us by GPreempt's paper). " +
      `In the model the MI308X saves ${digits(faster)} times as fast as the A100, ` + (faster < 10 ? "not ten" : "as expected") +
      `; an MI300X has ${mega(bytes("mi300x"))} to save instead of ${mega(bytes("mi308x"))} and takes ${time(save("mi300x"))}.`),
    table("In words, by the design notes.", [["", x => x[0]], ["AMD", x => x[1]], ["NVIDIA", x => x[2]]], [
      ["triggered", "in the kernel, by a call of the driver", "from user space, by an ioctl to the driver"],
      ["saved by", "the GPU's trap handler, wave by wave", "the GPU, by thread block"],
      ["what is saved", "PC, SGPRs, VGPRs, LDS, accumulation VGPRs", "PC, registers, shared memory, barriers"],
      ["switched by", "the GPU; the driver keeps MQDs", "the GPU; the driver keeps the run list"]]),
    chart("fig-vendors", "The five parts of a preemption by ours-evict, mean, by device. On the A100 it is what our core would do with that device's costs: nothing of ours runs there.", draw, partKey()),
    table("Steps, by the design notes and in the model (ours-evict, mean).", [
      ["step", x => x.name], ["design notes: AMD", x => range(x.amd), true], ["mi308x", x => part(profiles[0], x.part), true],
      ["mi300x", x => part(profiles[1], x.part), true], ["design notes: NVIDIA", x => range(x.nvidia), true], ["a100", x => part(profiles[2], x.part), true],
    ], r.vendors.steps),
    table("Added to an average request, and goodput of the offline work. timeslice-100us and -10us: NVIDIA's own time slices, with a switch on an instruction or between thread blocks as its documents say.", [
      ["row", x => [x.name, (named(r.compare.rows, x.name) || {}).what]], ...profiles.map(p => [p.name, x => { const o = of(p, x.name);
        return o ? [o.added_mean === null ? "-" : time(o.added_mean, true), p.repeat] : "-"; }, true]),
      ...profiles.map(p => [p.name + ", goodput", x => plain((of(p, x.name) || {}).goodput), true]),
    ], names.map(name => ({ name }))),
    table("The devices.", [
      ["device", p => p.name], ["compute units", p => count(p.device.compute_units), true],
      ["registers", p => mega(p.device.register_bytes), true], ["LDS", p => mega(p.device.lds_bytes), true],
      ["memory", p => (p.device.bandwidth / 1e6).toFixed(1) + " TB/s", true],
      ["saved per preemption", p => mega(bytes(p.name)), true],
    ], profiles),
    repeats(profiles.map(p => p.repeat)),
  ];
}

function labChapter(r) {
  if (!r.lab) return [el("p", {}, "Not run. ", el("code", {}, "./run report --lab"), " in the source tree runs the same workloads on the real, unmodified amdkfd on the same virtual GPU, " +
    "and this chapter has its rows, the model error table and what the driver executes.")];
  const runs = Object.entries(r.lab).filter(([k]) => k.startsWith("colocate")).map(([, v]) => v), e = r.lab.model_error, c = r.lab.costs, a = r.lab.arrival;
  const pair = (x, k) => x[k].sim === x[k].lab ? count(x[k].sim) : `${count(x[k].sim)} / ${count(x[k].lab)}`;
  return [
    el("p", {}, "Debian's kernel with its unmodified amdkfd in a virtual machine; its GPU is the same model. What the driver does is real, how long the device takes is not. Guest time counts instructions. " +
      "The virtual device finds the doorbells of programs by polling, every 50 us: differences below that mean nothing."),
    ...runs.map(x => table(`${x.what}. ${x.exit ? "It FAILED." : "Every workgroup ran exactly once."}`, [
      ["online", o => o.name], ["mean", o => us(o.mean), true], ["p50", o => us(o.p50), true], ["p99", o => us(o.p99), true],
      ["offline kernels done", o => count(o.offline_kernels), true]], x.rows.map(o => ({ ...o, ours: /gpreempt|evict|direct|halt/.test(o.name) })))),
    a && table(`${a.what}, from the write pointer that moves. Medians. kmod/evict@20us: our module by evict, looking every 20 us; kfd-debug: the daemon on the stock driver; the grace is the shortest, with ",64" the driver's own; by-hand: the program that submits calls the module, with the driver's grace; floor: the module's timer and worker without the scheduler.`, [
      ["by", x => x.name], ["until the unmap", x => time(x.unmap_ns.median), true], ["until its fence", x => time(x.fence_ns.median), true],
      ["until the first wave", x => time(x.wave_ns.median), true], ["p90", x => time(x.wave_ns.p90), true],
      ["software, instructions", x => count(x.software_ns.median), true], ["repetitions", x => count(x.repetitions), true]],
      a.rows.map(x => ({ ...x, ours: /^k/.test(x.name) }))),
    e && table("Model error: simulator / lab, one number where they are equal. Model against model, with the real driver between them.", [
      ["operation", x => x.name], ["unmaps", x => pair(x, "unmaps"), true], ["run lists", x => pair(x, "runlists"), true],
      ["mapped", x => pair(x, "queues_mapped"), true], ["waves saved", x => pair(x, "waves_saved"), true],
      ["command ns", x => pair(x, "command_ns"), true], ["save ns", x => pair(x, "save_ns"), true], ["switch ns", x => pair(x, "switch_ns"), true],
      ["error", x => (x.error_permille / 10).toFixed(1) + " %", true], ["", x => x.off ? el("span", { class: "fail" }, "off") : ""]], e.rows),
    c && table("What the real driver executes to stop and to start work.", [
      ["operation", x => x.operation], ["queues", x => count(x.queues), true], ["instructions, median", x => count(x.cost.median), true],
      ["device", x => time(x.modelled_ns), true], ["unmaps", x => count(x.unmaps), true], ["run lists", x => count(x.runlists), true], ["mapped", x => count(x.queues_mapped), true]], c.rows),
    repeats(Object.values(r.lab).map(x => x.repeat)),
  ];
}

function sourcesChapter(r) {
  const assumed = r.sources.facts.filter(f => f.source === "assumed").length;
  return [
    el("p", {}, "Every figure of this page is in report.json with its unit, its source and the command that repeats it. There are five kinds of source."),
    table("What each is, and what a run on hardware would replace.", [
      ["source", x => x.name], ["what it is", x => x.what, "prose"], ["what hardware would replace", x => x.hardware, "prose"]], r.sources.kinds),
    el("p", {}, `${assumed} of ${r.sources.facts.length} facts of the model are assumed. A result is no better than the weakest it rests on, and every result here rests on assumed ones; ` +
      "the chapter of doubts shows what happens if they are all wrong by a factor."),
    el("details", {}, el("summary", {}, "every fact"), table("Facts of the virtual MI308X and of the paths on the processor.", [
      ["fact", f => f.name], ["value", f => typeof f.value === "number" ? count(f.value) : f.value, true], ["unit", f => f.unit],
      ["source", f => tag(f.source)], ["where, or what would replace it", f => f.note, "prose"]], r.sources.facts)),
    repeats([r.sources.repeat]),
  ];
}

const CHAPTERS = [
  ["acceptance", "Does it do what was asked?", acceptanceChapter],
  ["steps", "One preemption, step by step", stepsChapter],
  ["compare", "Beside every other way", compareChapter],
  ["better", "Where others are better", betterChapter],
  ["interfaces", "Three interfaces", interfacesChapter],
  ["placements", "Where the monitor lives", placementsChapter],
  ["vendors", "AMD and NVIDIA side by side", vendorsChapter],
  ["scale", "How it scales, and where it stops", scaleChapter],
  ["doubts", "If the assumptions are wrong", doubtChapter],
  ["lab", "On the real driver", labChapter],
  ["sources", "Where every number comes from", sourcesChapter],
];

function start(r) {
  document.getElementById("tiles").append(...tiles(r));
  for (const [id, title, fill] of CHAPTERS) {
    document.getElementById("contents").append(el("li", {}, el("a", { href: "#" + id }, title)));
    const section = el("section", { id, "aria-labelledby": "h-" + id }, el("h2", { id: "h-" + id }, title));
    document.getElementById("chapters").append(section);
    section.append(...fill(r).filter(x => x));
    section.setAttribute("data-chapter", "drawn");
  }
  document.getElementById("foot").append(`gpreempt ${r.version}, seed ${r.seed}${r.quick ? ", quick" : ""}; ${r.model}. ` +
    `Made ${r.wall_clock.started} in ${r.wall_clock.seconds} s on ${r.wall_clock.processors} processors.`);
  redraw();
  document.body.setAttribute("data-report", "drawn");
}
