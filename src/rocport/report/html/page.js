"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  data.findings = data.findings.map(([path, line, rule, applicability, message, fix, holds, source]) => ({ path, line, rule, applicability, message, fix, holds, source }));
  const $ = (id) => document.getElementById(id);
  const make = (tag, attributes = {}, ...children) => {
    const node = tag === "svg" || make.svg.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(key, value);
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  make.svg = new Set(["rect", "g", "text", "line", "circle", "clipPath"]);
  const link = (target, text, attributes = {}) => make("a", { href: "#" + target, ...attributes }, text);
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  const hours = (minutes) => (minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`);
  const open = (id) => { $(id).hidden = false; };
  const coloured = (text, name) => make("span", { class: name }, text);

  // ---- verdict and evidence first
  const kinds = { manual: 0, review: 0, safe: 0 };
  for (const finding of data.findings) kinds[finding.applicability] += 1;
  const waiting = new Set(data.findings.filter((finding) => finding.applicability === "manual").map((finding) => finding.path));
  const name = data.root.split("/").filter(Boolean).pop() || data.root;
  $("version").textContent = data.version;
  $("title").textContent = `${data.command} of ${name}`;
  document.title = `rocport: ${name}`;
  for (const [level, [text, how, target]] of data.evidence) {
    $("evidence").append(make("li", {}, make("b", {}, level), target ? link(target.slice(1), text, { class: how }) : coloured(text, how || "dim")));
  }
  const minutes = Object.values(data.effort).reduce((sum, value) => sum + value, 0);
  if (data.verdict) $("verdict").append(coloured(data.verdict[0], data.verdict[1]));
  else $("verdict").append(
    waiting.size ? coloured(`${plural(waiting.size, "file")} for you`, "bad") : coloured("Nothing is left undone", "good"),
    `: ${plural(kinds.manual, "site")} not done, ${kinds.review} done and to review, ${kinds.safe} done and safe` + (minutes ? `; about ${hours(minutes)} of work by estimate.` : "."),
  );

  // ---- treemap of work left: squarified (Bruls, Huizing and van Wijk, 2000)
  const squarify = (items, box) => {
    const total = items.reduce((sum, item) => sum + item.size, 0);
    const scale = (box.w * box.h) / total;
    const placed = [];
    let rest = items.slice();
    while (rest.length) {
      const side = Math.min(box.w, box.h);
      const worst = (row) => {
        const sum = row.reduce((all, item) => all + item.size * scale, 0);
        return Math.max(...row.map((item) => Math.max((side * side * item.size * scale) / (sum * sum), (sum * sum) / (side * side * item.size * scale))));
      };
      let count = 1;
      while (count < rest.length && worst(rest.slice(0, count + 1)) <= worst(rest.slice(0, count))) count += 1;
      const row = rest.slice(0, count);
      rest = rest.slice(count);
      const thick = row.reduce((sum, item) => sum + item.size * scale, 0) / side;
      let along = 0;
      for (const item of row) {
        const length = (item.size * scale) / thick;
        placed.push(box.w >= box.h ? { ...item, x: box.x, y: box.y + along, w: thick, h: length } : { ...item, x: box.x + along, y: box.y, w: length, h: thick });
        along += length;
      }
      if (box.w >= box.h) box = { x: box.x + thick, y: box.y, w: box.w - thick, h: box.h };
      else box = { x: box.x, y: box.y + thick, w: box.w, h: box.h - thick };
    }
    return placed;
  };
  const efforts = Object.entries(data.effort).filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);
  if (efforts.length) {
    open("work");
    const shown = efforts.slice(0, 60).map(([path, size]) => ({ path, size }));
    const folded = efforts.slice(60).reduce((sum, [, value]) => sum + value, 0);
    if (folded) shown.push({ path: "", label: `${efforts.length - 60} more files`, size: folded });
    shown.sort((a, b) => b.size - a.size);
    const svg = make("svg", { viewBox: "0 0 1000 260", role: "group", "aria-label": "Files by work left" });
    for (const item of squarify(shown, { x: 0, y: 0, w: 1000, h: 260 })) {
      const label = item.label || item.path;
      const colour = waiting.has(item.path) ? "var(--del)" : "var(--soft)";
      const box = make("g", {}, make("rect", { x: item.x + 1, y: item.y + 1, width: Math.max(item.w - 2, 0), height: Math.max(item.h - 2, 0), fill: colour, stroke: "var(--line)", rx: 3 }));
      const room = Math.floor((item.w - 10) / 7);
      if (item.h > 18 && room > 3) box.append(make("text", { x: item.x + 6, y: item.y + 16 }, label.length > room ? "…" + label.slice(1 - room) : label));
      if (item.h > 36 && room > 5) box.append(make("text", { x: item.x + 6, y: item.y + 32 }, hours(item.size)));
      box.append(document.createElementNS("http://www.w3.org/2000/svg", "title"));
      box.lastChild.textContent = `${label}: about ${hours(item.size)}`;
      const anchor = document.createElementNS("http://www.w3.org/2000/svg", "a");
      anchor.setAttribute("href", "#findings");
      anchor.setAttribute("aria-label", `${label}: about ${hours(item.size)}`);
      anchor.append(box);
      anchor.addEventListener("click", () => { if (item.path) { fill(); $("file").value = item.path; show(); openFirst(); } });
      svg.append(anchor);
    }
    $("treemap").append(svg);
  }

  // ---- findings, by file; a file's body is made when it is opened
  const byFile = new Map();
  for (const file of data.files) byFile.set(file.path, { ...file, findings: [] });
  for (const finding of data.findings) byFile.get(finding.path).findings.push(finding);
  const option = (value) => make("option", { value }, value);
  $("rule").append(...[...new Set(data.findings.map((finding) => finding.rule))].sort().map(option));
  // A choice of thousands of files costs more than the rest of the page: it is filled when somebody comes to it.
  const fill = () => { if ($("file").length === 1) $("file").append(...[...byFile.keys()].map(option)); };
  for (const event of ["focus", "pointerdown"]) $("file").addEventListener(event, fill);
  const words = { manual: "for you", review: "review", safe: "safe" };
  const tone = { manual: "bad", review: "warn", safe: "good" };
  const sentence = (finding) => make("div", { class: "finding " + finding.applicability },
    make("p", {}, make("span", { class: "tag " + tone[finding.applicability] }, words[finding.applicability]), make("code", {}, `line ${finding.line}  ${finding.rule}`)),
    make("p", {}, finding.message),
    finding.fix ? make("p", {}, "Next: " + finding.fix) : null,
    finding.holds ? make("p", { class: "dim" }, "Holds for " + finding.holds) : null,
    /^https?:/.test(finding.source) ? make("p", {}, make("a", { href: finding.source, rel: "noreferrer" }, "source")) : null);
  const table = (file, findings) => {
    const at = new Map();
    for (const finding of findings) at.set(finding.line, [...(at.get(finding.line) || []), finding]);
    const body = make("tbody");
    for (const [kind, left, a, right, b] of file.rows) {
      if (kind === ".") { body.append(make("tr", { class: "fold" }, make("td", { colspan: 4 }, a || `${plural(left, "line")} alike`))); continue; }
      const changed = kind !== "=";
      body.append(make("tr", {},
        make("td", { class: "n" }, left ? String(left) : ""), make("td", { class: changed && left ? "del" : "" }, a),
        make("td", { class: "n" }, right ? String(right) : ""), make("td", { class: changed && right ? "add" : "" }, b)));
      for (const finding of at.get(left) || []) {
        body.append(make("tr", { class: "note " + finding.applicability }, make("td", { colspan: 4 }, `${words[finding.applicability]}: ${finding.message}` + (finding.fix ? ` Next: ${finding.fix}` : ""))));
      }
    }
    const head = make("thead", {}, make("tr", {}, make("th", { class: "n" }, ""), make("th", { scope: "col" }, "CUDA"), make("th", { class: "n" }, ""), make("th", { scope: "col" }, "HIP")));
    return make("table", { class: "diff" }, make("caption", { class: "dim" }, file.output && file.output !== file.path ? `${file.path} and ${file.output}` : file.path), head, body);
  };
  const PAGE = 100;
  let limit = PAGE;
  // The toggle event is queued: who needs a body at once, as a printer does, calls what draws it.
  const drawers = new WeakMap();
  const unfold = (details) => { details.open = true; drawers.get(details)?.(); };
  const show = () => {
    const text = $("search").value.trim().toLowerCase();
    const rule = $("rule").value;
    const only = $("file").value;
    const wanted = new Set([...document.querySelectorAll("input[name=kind]:checked")].map((box) => box.value));
    const parts = [];
    let count = 0;
    for (const file of byFile.values()) {
      if (only && file.path !== only) continue;
      const findings = file.findings.filter((finding) => wanted.has(finding.applicability) && (!rule || finding.rule === rule) &&
        (!text || `${finding.path} ${finding.rule} ${finding.message} ${finding.fix}`.toLowerCase().includes(text)));
      if (!findings.length && !(only && file.rows.length)) continue;
      count += findings.length;
      parts.push([file, findings]);
    }
    parts.sort((a, b) => (data.effort[b[0].path] || 0) - (data.effort[a[0].path] || 0) || (a[0].path < b[0].path ? -1 : 1));
    $("count").textContent = `${plural(count, "finding")} in ${plural(parts.length, "file")}`;
    const list = $("list");
    list.replaceChildren();
    for (const [file, findings] of parts.slice(0, limit)) {
      const groups = ["manual", "review", "safe"].map((kind) => [kind, findings.filter((finding) => finding.applicability === kind).length]).filter(([, number]) => number);
      const details = make("details", {}, make("summary", {}, make("code", {}, file.path), " ", ...groups.map(([kind, number]) => make("span", { class: "tag " + tone[kind] }, `${number} ${words[kind]}`)),
        data.effort[file.path] ? make("span", { class: "dim" }, hours(data.effort[file.path])) : null));
      details.dataset.path = file.path;
      const draw = () => {
        if (!details.open || details.querySelector(".body")) return;
        const body = make("div", { class: "body" }, ...findings.slice(0, 500).map(sentence));
        if (findings.length > 500) body.append(make("p", { class: "dim" }, `${findings.length - 500} more: narrow the filters.`));
        if (file.rows.length) body.append(make("div", { class: "wide" }, table(file, findings)));
        details.append(body);
      };
      drawers.set(details, draw);
      details.addEventListener("toggle", draw);
      list.append(details);
    }
    if (parts.length > limit) {
      const more = make("button", { type: "button" }, `Show ${Math.min(PAGE, parts.length - limit)} more of ${parts.length} files`);
      more.addEventListener("click", () => { limit += PAGE; show(); });
      list.append(more);
    }
  };
  const openFirst = () => { const first = $("list").querySelector("details"); if (first) { first.open = true; first.querySelector("summary").focus(); } };
  const narrowed = () => { limit = PAGE; show(); };
  $("filters").addEventListener("input", narrowed);
  $("filters").addEventListener("submit", (event) => { event.preventDefault(); openFirst(); });
  $("filters").addEventListener("reset", () => setTimeout(narrowed));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { $("filters").reset(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    if (event.key === "/") { event.preventDefault(); $("search").focus(); return; }
    if (event.key !== "j" && event.key !== "k") return;
    const all = [...$("list").querySelectorAll("summary")];
    const now = all.indexOf(document.activeElement);
    const next = all[now < 0 ? 0 : Math.min(Math.max(now + (event.key === "j" ? 1 : -1), 0), all.length - 1)];
    if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
  });
  let printed = null;
  addEventListener("beforeprint", () => {
    printed ??= { limit, opened: new Set([...$("list").querySelectorAll("details[open]")].map((details) => details.dataset.path)) };
    limit = Infinity;
    show();
    for (const details of document.querySelectorAll("details")) unfold(details);
  });
  addEventListener("afterprint", () => {
    if (!printed) return;
    const { opened } = printed;
    ({ limit } = printed);
    printed = null;
    show();
    for (const details of $("list").querySelectorAll("details")) if (opened.has(details.dataset.path)) unfold(details);
  });

  // ---- sections: a table, sorted by its headings, and a plot
  const text = (cell) => (Array.isArray(cell) ? cell[0] : cell === null ? "" : String(cell));
  const short = (number) => (Number.isInteger(number) ? String(number) : number.toPrecision(3));
  // A link leads to a part of this page or to a file beside it, nowhere else.
  const safe = (href) => href.startsWith("#") || /^[\w.%+@-]+(\/[\w.%+@-]+)*(#[\w-]*)?$/.test(href);
  const draw = (cell) => {
    if (Array.isArray(cell)) {
      const [words_, how, href] = cell;
      const inner = how === "code" ? make("code", {}, words_) : coloured(words_, how);
      return href && safe(href) ? make("a", { href }, inner) : inner;
    }
    return typeof cell === "number" ? short(cell) : text(cell);
  };
  const ROWS = 500;
  const tableOf = (section) => {
    const most = section.columns.map((_, at) => Math.max(1e-300, ...section.rows.map((row) => (typeof row[at] === "number" ? row[at] : 0))));
    const body = make("tbody");
    const more = make("button", { type: "button", hidden: "" });
    const heads = [];
    let order = section.rows.slice();
    let shown = ROWS;
    const put = () => {
      body.replaceChildren(...order.slice(0, shown).map((row) => make("tr", {}, ...row.map((cell, at) => {
        const number = typeof cell === "number";
        if (number && section.bars.includes(at)) return make("td", { class: "num" }, make("span", { class: "bar", style: `width:${Math.round((cell / most[at]) * 90)}px` }), short(cell));
        return make("td", number ? { class: "num" } : {}, draw(cell));
      }))));
      more.hidden = order.length <= shown;
      more.textContent = `Show ${Math.min(ROWS, order.length - shown)} more of ${order.length} rows`;
    };
    more.addEventListener("click", () => { shown += ROWS; put(); });
    section.columns.forEach((column, at) => {
      const head = make("th", { scope: "col" }, make("button", { type: "button", class: "sort" }, column));
      head.firstChild.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => { const said = text(row[at]); const number = parseFloat(said); return [said === "", Number.isNaN(number) ? Infinity : number, said]; };
        order = section.rows.map((row) => [key(row), row]).sort(([a], [b]) => a[0] - b[0] || (down ? -1 : 1) * (a[1] === b[1] ? a[2].localeCompare(b[2]) : a[1] - b[1])).map(([, row]) => row);
        put();
      });
      heads.push(head);
    });
    put();
    let printed = 0;
    addEventListener("beforeprint", () => { printed ||= shown; shown = order.length; put(); });
    addEventListener("afterprint", () => { shown = printed || shown; printed = 0; put(); });
    return [make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body), more];
  };
  const svg = (tag, attributes, ...children) => { make.svg.add(tag); return make(tag, attributes, ...children); };
  const plotOf = (plot, label) => {
    const points = plot.series.flatMap((one) => one.points);
    const W = 1000, H = 300, L = 70, R = 10, T = 26, B = 44;
    const xs = points.map((point) => point[0]);
    const positive = points.map((point) => point[1]).filter((value) => value > 0);
    const low = plot.log ? Math.floor(Math.log10(Math.min(1, ...positive))) - 1 : 0;
    const high = plot.log ? Math.max(low + 2, Math.ceil(Math.log10(Math.max(1e-30, ...positive)))) : Math.max(1, ...positive);
    const [first, last] = [Math.min(...xs), Math.max(...xs)];
    const x = (value) => L + ((value - first) / (last - first || 1)) * (W - L - R);
    const y = (value) => { const at = plot.log ? (value > 0 ? Math.log10(value) : low) : value; return H - B - ((at - low) / (high - low || 1)) * (H - T - B); };
    const all = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${label}: ${plot.y} over ${plot.x}; the table below has the numbers`, class: "plot" });
    const step = plot.log ? Math.max(1, Math.ceil((high - low) / 8)) : (high - low) / 4;
    for (let at = low; at <= high + 1e-9; at += step) {
      const place = plot.log ? y(10 ** at) : y(at);
      all.append(svg("line", { x1: L, x2: W - R, y1: place, y2: place, class: "grid" }), svg("text", { x: L - 6, y: place + 4, "text-anchor": "end" }, plot.log ? (at === low ? "0" : `1e${at}`) : short(at)));
    }
    for (const at of new Set([first, last])) all.append(svg("text", { x: x(at), y: H - B + 16, "text-anchor": at === first ? "start" : "end" }, short(at)));
    all.append(svg("text", { x: (L + W) / 2, y: H - 8, "text-anchor": "middle" }, plot.x), svg("text", { x: 6, y: 14 }, plot.y));
    plot.series.forEach((one, number) => {
      const group = svg("g", { class: `series s${number % 5}` });
      if (one.line && one.points.length > 1) group.append(svg("polyline", { points: one.points.map((point) => `${x(point[0])},${y(point[1])}`).join(" ") }));
      for (const [px, py, name_] of one.points) group.append(svg("circle", { cx: x(px), cy: y(py), r: 4 }, svg("title", {}, `${name_}: ${short(py)}`)));
      group.append(svg("text", { x: W - R - 8, y: T + 16 * number, "text-anchor": "end" }, `\u25cf ${one.name}`));
      all.append(group);
    });
    return all;
  };
  for (const section of data.sections) {
    const heading = make("h2", { id: section.id + "-title" }, section.title);
    const node = make("section", { id: section.id, "aria-labelledby": section.id + "-title" }, heading);
    if (section.note) node.append(make("p", { class: "how" }, section.note));
    if (section.plot) node.append(plotOf(section.plot, section.title));
    if (section.rows.length) { const [table_, more] = tableOf(section); node.append(make("div", { class: "wide" }, table_), more); }
    $("problems").before(node);
  }
  $("findings").hidden = !data.findings.length && !data.files.some((file) => file.rows.length);
  for (const [id, items, words_] of [["problems", data.problems, (item) => `${item.path}: ${item.message}`],
    ["left-out", data.leftOut, (item) => `${item.path}:${item.line}: ${item.rule} (${item.by}${item.reason ? ": " + item.reason : ""})`]]) {
    if (!items.length) continue;
    open(id);
    document.querySelector(`#${id} ul`).append(...items.map((item) => make("li", {}, words_(item))));
  }
  for (const section of document.querySelectorAll("main > section")) {
    if (!section.hidden) $("sections").append(make("li", {}, link(section.id, section.querySelector("h2").textContent)));
  }
  show();
  document.documentElement.dataset.ready = String(data.findings.length);
})();
