// SPDX-License-Identifier: Apache-2.0
// Draws the report's charts: figures from the tables beside them, samples and timelines from the data block. Every chart
// says nothing that its table or the views named there do not.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const NS = "http://www.w3.org/2000/svg";
  const tip = document.getElementById("tip");
  const ownAxis = document.getElementById("own-axis");
  const MS = 1e6;  // ns
  let serial = 0;

  // ---- small things ----

  function svg(name, attributes, parent, text) {
    const made = document.createElementNS(NS, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.appendChild(made);
    return made;
  }
  function html(name, attributes, parent, text) {
    const made = document.createElement(name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.appendChild(made);
    return made;
  }
  const fixed = (value, digits) => value.toFixed(digits).replace("-", "\u2212");
  const ms = (ns) => fixed(ns / MS, 3);
  const round = (px) => Math.round(px * 100) / 100;
  const kept = (text, most) => (text.length > most ? text.slice(0, most - 1) + "\u2026" : text);

  function ticks(low, high, wanted) {
    const rough = (high - low) / Math.max(1, wanted);
    const power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const all = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) all.push(i * step);
    return { all, label: (value) => fixed(value, digits).replace(/^\u2212(0(\.0*)?)$/, "$1") };
  }
  // Values (ms) to pixels, with room at both ends; one value alone gets a little room around it.
  function scale(values, left, right, always) {
    let low = always === undefined ? Infinity : always, high = always === undefined ? -Infinity : always;
    for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
    if (!(low <= high)) { low = 0; high = 1; }
    const room = (high - low) * 0.04 || Math.max(Math.abs(high) * 0.02, 0.001);
    low -= room; high += room;
    const at = (value) => left + (value - low) / (high - low) * (right - left);
    return { low, high, left, right, at };
  }
  function axis(parent, x, top, bottom, title) {
    const marks = ticks(x.low, x.high, Math.max(2, Math.floor((x.right - x.left) / 85)));
    for (const value of marks.all) {
      const px = round(x.at(value));
      svg("line", { class: "grid", x1: px, x2: px, y1: top, y2: bottom }, parent);
      svg("text", { class: "dim small", x: px, y: bottom + 14, "text-anchor": "middle" }, parent, marks.label(value));
    }
    svg("line", { class: "axis", x1: x.left, x2: x.right, y1: bottom, y2: bottom }, parent);
    svg("text", { class: "dim small", x: x.right, y: bottom + 28, "text-anchor": "end" }, parent, title);
  }
  // An image with a title and a description for those who do not see it.
  function picture(width, height, title, description) {
    const id = ++serial;
    const root = svg("svg", { role: "img", viewBox: `0 0 ${width} ${height}`, width, height,
                              "aria-labelledby": `title-${id} about-${id}` });
    svg("title", { id: `title-${id}` }, root, title);
    svg("desc", { id: `about-${id}` }, root, description);
    const body = svg("g", {}, root);
    svg("title", {}, body);  // the picture's title is no tooltip of its marks
    return { root, body };
  }

  // ---- the tooltip ----

  function show(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    const width = tip.offsetWidth, height = tip.offsetHeight;
    const page = document.documentElement;
    const left = Math.min(x + 12, page.scrollLeft + page.clientWidth - width - 8);
    const above = y - page.scrollTop > height + 24;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${above ? y - height - 12 : y + 16}px`;
  }
  const said = new WeakMap();  // mark -> what it says, as a function
  document.addEventListener("pointerover", (event) => {
    const says = said.get(event.target);
    if (says) show(says(), event.pageX, event.pageY); else tip.hidden = true;
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

  // ---- what the tables say ----

  const valueOf = (row, name) => {
    const cell = row.querySelector(`data.${name}`);
    return cell ? Number(cell.value) : null;
  };
  const textOf = (row, name) => { const cell = row.querySelector(`.${name}`); return cell ? cell.textContent : ""; };
  const trialId = (short) => data.prefix + short;

  function rowsOf(plot) {
    const table = plot.parentElement.querySelector("table");
    return Array.from(table.tBodies, (body) => Array.from(body.rows)).flat().map((row) => ({
      row, group: row.dataset.group, label: row.dataset.label, tone: row.dataset.tone,
    }));
  }
  const groupsOf = (rows) => Array.from(new Set(rows.map((row) => row.group)));

  // Rows under their groups' names, each group with its axis if asked for; `values(row)` are in ms.
  function layOut(plot, rows, values, options) {
    const width = Math.max(280, Math.floor(plot.clientWidth || plot.parentElement.clientWidth));
    const narrow = width < 560;
    const left = narrow ? 62 : 110, right = width - (narrow ? 66 : options.rightRoom);
    const groups = groupsOf(rows);
    const own = ownAxis.checked && groups.length > 1;
    const shared = scale(rows.flatMap(values), left + 6, right - 6, options.always);
    let y = 4;
    const places = groups.map((name) => {
      const members = rows.filter((row) => row.group === name);
      const x = own ? scale(members.flatMap(values), left + 6, right - 6, options.always) : shared;
      const place = { name, members, x, title: y + 13, top: y + 20 };
      y = place.top + members.length * options.rowHeight;
      place.bottom = y;
      y += own ? 40 : 6;
      return place;
    });
    const bottom = own ? y : y + 34;
    const { root, body } = picture(width, bottom, plot.dataset.title, plot.dataset.about);
    if (!own) axis(body, shared, places[0].top, y, options.unit);
    for (const place of places) {
      if (own) axis(body, place.x, place.top, place.bottom, options.unit);
      svg("text", { class: "group small", x: 0, y: place.title }, body, kept(place.name, narrow ? 40 : 80));
      place.members.forEach((member, i) => {
        const middle = place.top + (i + 0.5) * options.rowHeight;
        svg("text", { class: "dim", x: left - 8, y: middle + 4, "text-anchor": "end" }, body,
            kept(member.label, narrow ? 8 : 15));
        options.draw(member, place.x, middle, body, { right: right + 8, narrow, width });
      });
    }
    plot.replaceChildren(root);
    plot.dataset.width = String(plot.clientWidth);
  }

  // ---- samples of one milestone ----

  // Places for dots that would cover each other: around the row's middle, nearest first.
  function swarm(pixels, radius, room) {
    const bins = new Map();
    pixels.forEach((px, i) => {
      const bin = Math.round(px / (radius * 1.7));
      if (!bins.has(bin)) bins.set(bin, []);
      bins.get(bin).push(i);
    });
    const offsets = new Array(pixels.length).fill(0);
    for (const members of bins.values()) {
      const step = Math.min(radius * 1.7, room / Math.max(1, members.length - 1));
      members.sort((a, b) => pixels[a] - pixels[b]);
      members.forEach((sample, i) => { offsets[sample] = (i % 2 ? 1 : -1) * Math.ceil(i / 2) * step; });
    }
    return offsets;
  }

  function drawSamples(plot) {
    const figure = data.samples[plot.dataset.figure];
    const rows = rowsOf(plot);
    const of = (row) => (figure[row.row.dataset.cell] || []);
    layOut(plot, rows, (row) => of(row).filter((ns) => ns !== null).map((ns) => ns / MS), {
      rowHeight: 30, rightRoom: 128, unit: "ms",
      draw: (member, x, middle, body, place) => {
        const trials = data.cells[member.row.dataset.cell] || [];
        const values = of(member).map((ns, i) => ({ ns, trial: trials[i] })).filter((one) => one.ns !== null);
        const radius = values.length <= 24 ? 3.4 : values.length <= 120 ? 2.6 : 1.9;
        const pixels = values.map((one) => x.at(one.ns / MS));
        const offsets = swarm(pixels, radius, 30 - 2 * radius - 3);
        const dots = svg("g", { class: member.tone }, body);
        values.forEach((one, i) => {
          const known = timelines.has(one.trial);
          const dot = svg("circle", { class: known ? "s has-timeline" : "s", cx: round(pixels[i]),
                                      cy: round(middle + offsets[i]), r: radius }, dots);
          said.set(dot, () => `${member.label} \u00b7 ${member.group}\n${ms(one.ns)} ms\ntrial ${trialId(one.trial)}` +
                              (known ? "\nclick: its timeline" : ""));
          if (known) dot.addEventListener("click", () => chooseTrial(one.trial, true));
        });
        const median = valueOf(member.row, "median");
        if (median !== null) {
          const px = round(x.at(median / MS));
          svg("line", { class: "median", x1: px, x2: px, y1: middle - 12, y2: middle + 12 }, body);
        }
        const figureText = svg("text", { x: place.right, y: middle + 4 }, body, textOf(member.row, "median") || "\u2013");
        if (!place.narrow)
          svg("tspan", { class: "dim small", x: place.width, "text-anchor": "end" }, figureText,
              `n ${textOf(member.row, "n")}` + (Number(textOf(member.row, "lost")) ? `, ${textOf(member.row, "lost")} lost` : ""));
      },
    });
  }

  // ---- paired differences of one milestone ----

  function drawPairs(plot) {
    const rows = rowsOf(plot);
    const parts = (row) => ["hl", "low", "high"].map((name) => valueOf(row.row, name)).filter((ns) => ns !== null);
    layOut(plot, rows, (row) => parts(row).map((ns) => ns / MS), {
      rowHeight: 19, rightRoom: 190, always: 0, unit: plot.dataset.kind === "pairs" ? "ms; left of zero: the second case is earlier" : "ms",
      draw: (member, x, middle, body, place) => {
        const [hl, low, high] = ["hl", "low", "high"].map((name) => valueOf(member.row, name));
        const zero = round(x.at(0));
        svg("line", { class: "zero", x1: zero, x2: zero, y1: middle - 9.5, y2: middle + 9.5 }, body);
        const clear = low !== null && (low > 0 || high < 0);
        if (low !== null)
          svg("line", { class: "interval", x1: round(x.at(low / MS)), x2: round(x.at(high / MS)), y1: middle, y2: middle }, body);
        svg("circle", { class: clear ? "hl" : "hl open", cx: round(x.at(hl / MS)), cy: middle, r: 3.6 }, body);
        const interval = low === null ? "" : ` [${textOf(member.row, "low")}, ${textOf(member.row, "high")}]`;
        svg("text", { class: "small", x: place.right, y: middle + 4 }, body,
            textOf(member.row, "hl") + (place.narrow ? "" : interval));
        const hit = svg("rect", { class: "hit", x: 0, y: middle - 9, width: place.width, height: 18 }, body);
        said.set(hit, () => `${member.label} \u00b7 ${member.group}\n${textOf(member.row, "hl")} ms${interval}\n` +
                            `n ${textOf(member.row, "n")} pairs, p ${textOf(member.row, "p")}`);
      },
    });
  }

  function drawAll(within, again) {
    for (const plot of within.querySelectorAll(".plot[data-kind]")) {
      if (!plot.clientWidth || (!again && plot.dataset.width === String(plot.clientWidth))) continue;
      (plot.dataset.kind === "cells" ? drawSamples : drawPairs)(plot);
    }
  }

  // ---- the timeline of one trial; its times are whole microseconds from the first request's write ----

  const US = 1000;  // us in a ms
  const kContents = ["", "handshake", "data", "post-handshake", "alert"];
  const kInstants = [["first decrypted byte", "circle"], ["first body byte", "square"], ["1 KiB of body", "tick"],
                     ["4 KiB of body", "tick"], ["8 KiB of body", "tick"], ["first DATA frame", "triangle"],
                     ["complete", "diamond"]];
  const timelines = new Map(data.timelines.map((one) => [one.id, one]));
  const chooser = document.getElementById("trial");

  function sums(differences) { let sum = 0; return differences.map((difference) => (sum += difference)); }

  function glyph(kind, x, y, parent, tone) {
    const shape = { circle: `M${x - 4},${y}a4,4 0 1,0 8,0a4,4 0 1,0 -8,0`, square: `M${x - 3.5},${y - 3.5}h7v7h-7z`,
                    tick: `M${x - 1.3},${y - 6}h2.6v12h-2.6z`, triangle: `M${x - 4.5},${y + 4}h9l-4.5,-8z`,
                    diamond: `M${x},${y - 5.5}l5.5,5.5l-5.5,5.5l-5.5,-5.5z` }[kind];
    return svg("path", { class: `instant hover ${tone}`, d: shape }, parent);
  }

  function drawTimeline(trial) {
    const plot = document.getElementById("trial-plot");
    const width = Math.max(280, Math.floor(plot.clientWidth));
    const narrow = width < 560;
    const left = narrow ? 70 : 128, right = width - 12;
    const received = sums(trial.records.at), count = received.length;
    const streams = Array.from(new Set(trial.frames.map((frame) => frame[0])));
    const roles = new Map(trial.responses.map((one) => [one.stream, one.role]));
    const tones = new Map(trial.responses.map((one, i) => [one.stream, `k${(i + 1) % 8}`]));
    const drops = trial.drops || [];
    let last = 0, first = 0;
    for (const us of received) { last = Math.max(last, us); first = Math.min(first, us); }
    for (const one of trial.responses) for (const us of one.at) if (us !== null) last = Math.max(last, us + one.start);
    for (const us of trial.connection) if (us !== null) first = Math.min(first, us);
    const x = scale([first / US, last / US], left + 6, right - 6);
    const at = (us) => round(x.at(us / US));

    const curve = { top: 18, bottom: 168 };
    const stems = { top: 196, bottom: 246 };
    let y = stems.bottom + 12;
    const frameLanes = streams.map((stream) => ({ stream, y: (y += 18) }));
    const responseLanes = trial.responses.map((response) => ({ response, y: (y += 24) }));
    const dropLane = drops.length ? (y += 22) : 0;
    const connectionLane = (y += 22);
    const bottom = y + 14;
    const { root, body } = picture(width, bottom + 34, `Timeline of trial ${trialId(trial.id)}`,
        `${count} TLS records, ${trial.frames.length} DATA frames and ${trial.responses.length} responses; the tables below say the same.`);
    axis(body, x, curve.top, bottom, "ms from the first request\u2019s write");
    const lane = (text, middle) => svg("text", { class: "dim small", x: left - 8, y: middle + 4, "text-anchor": "end" }, body,
                                       kept(text, narrow ? 11 : 20));
    svg("line", { class: "axis", x1: at(0), x2: at(0), y1: curve.top - 8, y2: bottom }, body);

    // What had been decrypted, when.
    let total = 0;
    for (const bytes of trial.records.bytes) total += bytes;
    const height = (bytes) => round(curve.bottom - (total ? bytes / total : 0) * (curve.bottom - curve.top));
    svg("text", { class: "dim small", x: left - 8, y: curve.top + 4, "text-anchor": "end" }, body, `${fixed(total / 1024, 0)} KiB`);
    svg("text", { class: "dim small", x: left - 8, y: curve.bottom + 4, "text-anchor": "end" }, body, "0");
    lane("decrypted", (curve.top + curve.bottom) / 2);
    let path = "", sum = 0, started = false;
    received.forEach((us, i) => {
      if (trial.records.kind[i] !== 2) return;
      path += `${started ? "H" : `M${at(0)},${curve.bottom}H`}${at(us)}V${height(sum += trial.records.bytes[i])}`;
      started = true;
    });
    if (started) svg("path", { class: "steps", d: path }, body);
    svg("line", { class: "grid", x1: left, x2: right, y1: curve.bottom, y2: curve.bottom }, body);

    // Each record's size.
    const largest = 16384;
    lane(narrow ? "records" : "records (16 KiB)", stems.top);
    svg("line", { class: "grid", x1: left, x2: right, y1: stems.top, y2: stems.top }, body);
    svg("line", { class: "grid", x1: left, x2: right, y1: stems.bottom, y2: stems.bottom }, body);
    sum = 0;
    received.forEach((us, i) => {
      const bytes = trial.records.bytes[i], kind = trial.records.kind[i];
      const tall = kind === 2 ? Math.max(2, bytes / largest * (stems.bottom - stems.top)) : 6;
      const before = kind === 2 ? (sum += bytes) : sum;
      const mark = svg("rect", { class: kind === 2 ? "record hover" : "record other hover", x: round(x.at(us / US) - 0.8),
                                 y: round(stems.bottom - tall), width: 1.6, height: round(tall) }, body);
      said.set(mark, () => `record ${i}: ${kContents[kind]}\n${fixed(us / US, 3)} ms, ${bytes} bytes of plaintext\n${before} bytes decrypted with it`);
    });

    for (const one of frameLanes) {
      const name = roles.get(one.stream);
      lane(narrow ? `DATA ${one.stream}` : `DATA, ${name || `stream ${one.stream}`}`, one.y);
      const group = svg("g", { class: tones.get(one.stream) || "k6" }, body);
      trial.frames.filter((frame) => frame[0] === one.stream).forEach((frame, i) => {
        const from = at(frame[1]), to = at(frame[2]);
        const mark = svg("rect", { class: "bar hover", x: from, y: one.y - 5, width: Math.max(1.2, round(to - from)), height: 10 }, group);
        said.set(mark, () => `DATA frame ${i + 1} of stream ${one.stream}, ${frame[3]} bytes\nfirst byte ${fixed(frame[1] / US, 3)} ms, whole ${fixed(frame[2] / US, 3)} ms`);
      });
    }
    for (const { response, y: middle } of responseLanes) {
      lane(response.role, middle);
      const tone = tones.get(response.stream);
      const end = response.at[6] === null ? null : response.at[6] + response.start;
      if (end !== null) svg("line", { class: `span ${tone}`, x1: at(response.start), x2: at(end), y1: middle, y2: middle }, body);
      svg("line", { class: `request ${tone}`, x1: at(response.start), x2: at(response.start), y1: curve.top, y2: middle + 8 }, body);
      kInstants.forEach(([name, kind], i) => {
        if (response.at[i] === null) return;
        const mark = glyph(kind, at(response.start + response.at[i]), middle, body, tone);
        said.set(mark, () => `${response.role}: ${name}\n${fixed(response.at[i] / US, 3)} ms from its request`);
      });
    }
    if (dropLane) {
      lane("dropped", dropLane);
      for (const drop of drops) {
        const mark = svg("path", { class: "drop hover", d: `M${at(drop.at) - 4},${dropLane - 4}l8,8m0,-8l-8,8` }, body);
        said.set(mark, () => `${drop.what}\n${fixed(drop.at / US, 3)} ms`);
      }
    }
    lane("connection", connectionLane);
    const kConnection = ["connect started", "TCP established", "TLS handshake done", "settled"];
    const known = trial.connection.filter((us) => us !== null);
    if (known.length) svg("line", { class: "span k6", x1: at(known[0]), x2: at(0), y1: connectionLane, y2: connectionLane }, body);
    trial.connection.forEach((us, i) => {
      if (us === null) return;
      const mark = glyph("tick", at(us), connectionLane, body, "k6");
      said.set(mark, () => `${kConnection[i]}\n${fixed(us / US, 3)} ms`);
    });
    plot.replaceChildren(root);
    plot.dataset.width = String(plot.clientWidth);
  }

  // A table with its caption; numbers are right-aligned.
  function table(parent, caption, columns, rows) {
    const scroll = html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, parent);
    const made = html("table", {}, scroll);
    html("caption", {}, made, caption);
    const head = html("tr", {}, html("thead", {}, made));
    columns.forEach((name, i) => html("th", { scope: "col", class: i ? "num" : "" }, head, name));
    const body = html("tbody", {}, made);
    for (const row of rows) {
      const line = html("tr", {}, body);
      row.forEach((value, i) => html(i ? "td" : "th", i ? { class: "num" } : { scope: "row" }, line, value === null ? "\u2013" : String(value)));
    }
  }
  function folded(parent, title) {
    const made = html("details", {}, parent);
    html("summary", {}, made, title);
    return made;
  }
  const msOf = (us) => (us === null ? null : fixed(us / US, 3));

  function writeTables(trial) {
    const place = document.getElementById("trial-tables");
    place.replaceChildren();
    const id = trialId(trial.id);
    document.getElementById("trial-about").textContent =
      `Trial ${id}: ${trial.about}; ${trial.verdict}${trial.reason ? `: ${trial.reason}` : ""}.`;
    const each = (name, of) => [name, ...trial.responses.map(of)];
    table(place, "Milestones in ms, each from its own request\u2019s write (v_response, v_request)",
          each("response", (one) => one.role),
          [each("request sent, from the first\u2019s write", (one) => msOf(one.start)),
           ...kInstants.map(([name], i) => each(name, (one) => msOf(one.at[i]))),
           each("body bytes", (one) => one.bytes)]);
    if (trial.sockets.length)
      table(place, "The server\u2019s socket (v_socket)",
            ["at", "ms", "congestion window", "RTT \u00b5s", "unsent bytes", "segments lost", "segments retransmitted so far"],
            trial.sockets.map((one) => [one.at, msOf(one.us), one.cwnd, one.rtt, one.unsent, one.lost, one.retransmitted]));
    if (trial.queues.length)
      table(place, "Queues at the router (v_qdisc), from before to after the trial", ["link", "packets", "bytes", "drops"],
            trial.queues.map((one) => [one.link, one.packets, one.bytes, one.drops]));
    if (trial.drops && trial.drops.length)
      table(folded(place, `${trial.drops.length} dropped packets`), "Dropped packets", ["packet", "ms"],
            trial.drops.map((one) => [one.what, msOf(one.at)]));
    const received = sums(trial.records.at);
    const records = folded(place, `${received.length} TLS records`);
    const frames = trial.frames.length ? folded(place, `${trial.frames.length} DATA frames`) : null;
    // Long tables are written when they are wanted.
    records.addEventListener("toggle", () => table(records, "TLS records received (v_tls_record)",
        ["record", "content", "received ms", "plaintext bytes"],
        received.map((us, i) => [i, kContents[trial.records.kind[i]], msOf(us), trial.records.bytes[i]])), { once: true });
    if (frames)
      frames.addEventListener("toggle", () => table(frames, "DATA frames received (v_h2_frame)",
          ["frame", "stream", "first byte ms", "whole ms", "bytes"],
          trial.frames.map((one, i) => [i + 1, one[0], msOf(one[1]), msOf(one[2]), one[3]])), { once: true });
  }

  function chooseTrial(id, jump) {
    const trial = timelines.get(id);
    if (!trial) return;
    chooser.value = id;
    drawTimeline(trial);
    writeTables(trial);
    if (jump) document.getElementById("timeline").scrollIntoView();
  }

  // ---- the page ----

  const milestones = Array.from(document.querySelectorAll("details.milestone"));
  function redraw(again) {
    for (const one of milestones) if (one.open) drawAll(one, again);
    const plot = document.getElementById("trial-plot");
    if (chooser && plot && plot.dataset.width !== String(plot.clientWidth)) drawTimeline(timelines.get(chooser.value));
  }
  for (const one of document.querySelectorAll(".needs-script")) one.hidden = false;
  for (const one of milestones) one.addEventListener("toggle", () => { if (one.open) drawAll(one, false); });
  const setAll = (open) => { for (const one of milestones) one.open = open; };
  document.getElementById("open-all").addEventListener("click", () => setAll(true));
  document.getElementById("close-all").addEventListener("click", () => setAll(false));
  ownAxis.addEventListener("change", () => redraw(true));
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-trial]");
    if (!link || !timelines.has(link.dataset.trial)) return;
    event.preventDefault();
    chooseTrial(link.dataset.trial, true);
  });
  if (location.hash === "#all") setAll(true);
  redraw(false);
  if (chooser && timelines.size) {
    chooser.addEventListener("change", () => chooseTrial(chooser.value, false));
    chooseTrial(chooser.value, false);
  }
  let waiting = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => redraw(false));
  });
})();
