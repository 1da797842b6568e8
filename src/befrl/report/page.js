// Without scripts all text is there; with scripts tables sort and filter, curves have names and values, claims can be
// searched, and everything can be saved.
"use strict";

const all = (selector, within = document) => [...within.querySelectorAll(selector)];
function make(tag, options = {}, ...children) {
  const { aria = {}, ...properties } = options;
  const element = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(aria)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const button = (text, act) => make("button", { type: "button", textContent: text, onclick: act });

// What is shown is in the address: #id?name=value.
function address() {
  const [id, query = ""] = location.hash.slice(1).split("?");
  return { id, query: new URLSearchParams(query) };
}
function remember(id, values) {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ""));
  history.replaceState(null, "", `#${id}${query.size ? `?${query}` : ""}`);
}

function save(name, type, content) {
  const link = make("a", { download: name, href: URL.createObjectURL(new Blob([content], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
async function copy(pressed, text) {
  await navigator.clipboard.writeText(text);
  const label = pressed.textContent;
  pressed.textContent = "copied";
  setTimeout(() => { pressed.textContent = label; }, 1500);
}

// Tables
const cells = (text) => text.split("\n").map((line) => line.split("\t"));
const plain = (cell) => cell.replace(/(?<=\d),(?=\d{3})/g, "").replace("−", "-");
const number = (cell) => parseFloat(plain(cell));
const csv = (lines) => lines.map((line) => line.map((cell) => {
  const value = cell === "–" ? "" : plain(cell);
  return /[",]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}).join(",")).join("\n") + "\n";
const json = (value) => JSON.stringify(value, null, 1) + "\n";
const objects = ([head, ...rows]) => rows.map((row) => Object.fromEntries(row.map((cell, column) => {
  const value = Number(plain(cell));
  return [head[column], ["", "–"].includes(cell) ? null : isNaN(value) ? cell : value];
})));
const known = new Set(all(".data pre").flatMap((pre) => {
  const [head, ...rows] = cells(pre.textContent);
  return head[0] === "agent" ? rows.map((row) => row[0]) : [];
}));

// `own` is what the address calls the table.
function table(details, lines, own = details.id) {
  const [head, ...rows] = lines;
  const numeric = head.map((_, column) => rows.some((row) => !isNaN(number(row[column])))
    && rows.every((row) => ["", "–", "∞"].includes(row[column]) || /^[-−]?[\d.]/.test(row[column])));
  const state = { sort: "", q: "", constants: "" };
  const cell = (text, column) => {
    const link = head[column] === "agent" && known.has(text) && details.id !== "agent";
    const inside = link ? make("a", { href: `#agent-${text}`, textContent: text }) : text;
    return make(column ? "td" : "th", { className: numeric[column] ? "n" : "" }, inside);
  };
  const drawn = rows.map((row) => ({ row, line: make("tr", {}, ...row.map(cell)) }));
  for (const { line } of drawn) line.firstChild.scope = "row";
  const body = make("tbody", {}, ...drawn.map(({ line }) => line));
  const headings = head.map((name, column) => make("th", { scope: "col", className: numeric[column] ? "n" : "" },
    button(name, () => { state.sort = state.sort === String(column) ? `-${column}` : String(column); show(true); })));
  const search = make("input", { type: "search", placeholder: "search", oninput: () => { state.q = search.value; show(true); },
    aria: { "aria-label": `Search in ${details.querySelector("summary").textContent}` } });
  const roles = [...new Set(rows.map((row) => row[head.indexOf("constants")]))].filter(Boolean);
  const chips = roles.map((role) => button(role, () => {
    state.constants = state.constants === role ? "" : role;
    show(true);
  }));
  const name = details.id.replace(/^\w+-/, "");
  const tools = make("p", { className: "filters" }, ...(rows.length > 8 ? [search, ...chips] : []),
    button("CSV", () => save(`${name}.csv`, "text/csv", csv(lines))),
    button("JSON", () => save(`${name}.json`, "application/json", json(objects(lines)))));
  if (navigator.clipboard) {
    const copying = button("copy", () => copy(copying, csv(lines)));
    tools.append(copying);
  }
  function show(chosen) {
    const column = Math.abs(parseInt(state.sort)), down = state.sort.startsWith("-");
    const value = ({ row }) => (numeric[column] ? number(row[column]) : row[column]);
    const order = state.sort === "" ? drawn : [...drawn].sort((one, two) => {
      const [a, b] = [value(one), value(two)], lost = [a, b].map((x) => x !== x || x === "");
      if (lost[0] || lost[1]) return lost[0] - lost[1];  // what is missing comes last
      return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
    });
    body.append(...order.map(({ line }) => line));
    headings.forEach((heading, i) => {
      if (state.sort !== "" && i === column) heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    });
    for (const { row, line } of drawn)
      line.hidden = !row.join(" ").toLowerCase().includes(state.q.toLowerCase())
        || (state.constants !== "" && !row.includes(state.constants));
    chips.forEach((chip, i) => chip.setAttribute("aria-pressed", String(roles[i] === state.constants)));
    if (chosen) remember(own, state);
  }
  const { id, query } = address();
  if (id === own) for (const key of Object.keys(state)) state[key] = query.get(key) ?? "";
  search.value = state.q;
  show(false);
  const scroll = make("div", { className: "scroll", tabIndex: 0, aria: { role: "region", "aria-label": name } },
    make("table", {}, make("thead", {}, make("tr", {}, ...headings)), body));
  details.querySelector("summary").after(tools, scroll);
}
function opened(details) {
  const pre = details.querySelector(":scope > pre");
  if (!pre) return;
  const lines = cells(pre.textContent);
  details.dataset.text = pre.textContent;
  pre.remove();
  table(details, lines);
}
for (const details of all("details.data")) {
  details.addEventListener("toggle", () => { if (details.open) opened(details); });
  if (details.open) opened(details);
}

// The rows of an agent in the tables of all cases.
function agent(name) {
  const place = document.getElementById("agent");
  const lines = [];
  for (const details of all(".case > .data")) {
    const [head, ...rows] = cells(details.dataset.text ?? details.querySelector("pre").textContent);
    if (!lines.length) lines.push(["case", ...head]);
    const title = details.querySelector("summary").firstChild.textContent.trim();
    lines.push(...rows.filter((row) => row[0] === name).map((row) => [title, ...row]));
  }
  place.replaceChildren(make("summary", { textContent: `All numbers of ${name}` }));
  Object.assign(place, { hidden: false, open: true });
  table(place, lines, `agent-${name}`);
  place.scrollIntoView();
}

// Claims
const claims = all(".claim"), chips = all(".filters [data-filter]");
const search = document.getElementById("claims-search"), expand = document.getElementById("claims-expand");
const chosen = { verdict: "", part: "", q: "" };
function filter(asked) {
  const words = chosen.q.toLowerCase();
  for (const claim of claims)
    claim.hidden = ["verdict", "part"].some((key) => chosen[key] !== "" && chosen[key] !== claim.dataset[key])
      || !claim.textContent.toLowerCase().includes(words);
  const shown = claims.filter((claim) => !claim.hidden).length;
  for (const part of all(".part")) part.hidden = shown < claims.length && !part.querySelector(".claim:not([hidden])");
  for (const chip of chips)
    chip.setAttribute("aria-pressed", String(chosen[chip.dataset.filter] === chip.dataset.value));
  document.getElementById("claims-shown").textContent = `${shown} statement${shown === 1 ? "" : "s"}`;
  if (asked) remember("claims", chosen);
}
for (const chip of chips)
  chip.onclick = () => {
    const { filter: key, value } = chip.dataset;
    chosen[key] = chosen[key] === value ? "" : value;
    filter(true);
  };
if (search) {
  search.oninput = () => { chosen.q = search.value; filter(true); };
  expand.onclick = () => {
    const open = expand.getAttribute("aria-pressed") === "false";
    expand.setAttribute("aria-pressed", String(open));
    for (const details of all(".claim details")) details.open = open;
  };
  for (const each of [search, expand, ...chips]) each.disabled = false;
}

// Drawings. An image becomes a part of the page when it is opened: then its text is found, and its curves have names.
const source = (image) => decodeURIComponent(image.src.slice(image.src.indexOf(",") + 1));
function show(within) {
  for (const image of all(".drawing > img", within).filter((each) => !each.closest("details:not([open])"))) {
    const drawn = document.adoptNode(new DOMParser().parseFromString(source(image), "image/svg+xml").documentElement);
    drawn.setAttribute("role", drawn.querySelector("a") ? "group" : "img");
    drawn.setAttribute("aria-label", image.alt);
    const drawing = image.parentElement;
    image.replaceWith(drawn);
    enliven(drawing);
  }
}
document.addEventListener("toggle", ({ target }) => { if (target.open) show(target); }, true);

// What a figure plots, by its name.
let figures;
function plotted({ dataset }) {
  figures ??= JSON.parse(document.getElementById("plotted").content.textContent);
  return figures[dataset.name];
}

// Scales of axes and their inverses, as in matplotlib; `linear` of symlog: the end of the linear part, and its length.
const scales = {
  linear: () => [(x) => x, (y) => y],
  log: () => [Math.log10, (y) => 10 ** y],
  symlog: ({ linear }) => {
    const [end, size] = linear.split(" ").map(Number), unit = size / 0.9;
    return [(x) => (Math.abs(x) <= end ? x * unit : Math.sign(x) * end * (unit + Math.log10(Math.abs(x) / end))),
      (y) => (Math.abs(y) <= end * unit ? y / unit : Math.sign(y) * end * 10 ** (Math.abs(y) / end - unit))];
  },
};
// Three digits, with a power of ten for what is very large or very small.
function digits(value) {
  const [factor, power] = value.toExponential(2).split("e").map(Number);
  if (power >= -4 && power <= 5) return String(Number(value.toPrecision(3)));
  return `${factor} · 10${String(power).replace(/./g, (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)])}`;
}
// What the axis x or y of a panel says at a share of its length: a value, or the nearest name.
function reading(panels, panel, letter, share) {
  const axis = panel[letter], [there, back] = scales[axis.scale](axis);
  const [low, high] = axis.limits.split(" ").map((limit) => there(Number(limit)));
  const value = back(low + share * (high - low));
  if (axis.names.some((name) => isNaN(Number(name)))) {
    const far = axis.places.split(" ").map((place) => Math.abs(place - value));
    return axis.names[far.indexOf(Math.min(...far))].replaceAll("$", "");
  }
  // Panels in a row or column may have one label.
  const axes = [axis, ...panels.map((each) => each[letter])].filter(({ label }) => label);
  const { label } = axes.find(({ limits }) => limits === axis.limits) ?? axes[0] ?? { label: letter };
  const [first, ...more] = label.split("\n");
  return `${more.join(" ").length < 20 ? [first, ...more].join(" ") : first} = ${digits(value)}`;
}
// The values at a point of the window, by the panel that contains it, whose first shape is its white paper.
function values(figure, x, y) {
  for (const panel of all("[data-axes]", figure)) {
    const paper = panel.querySelector("path"), box = paper?.getBoundingClientRect();
    if (!paper || getComputedStyle(paper).fill !== "rgb(255, 255, 255)") continue;
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) continue;
    const panels = plotted(figure)?.axes ?? [], axes = panels[panel.dataset.axes - 1];
    if (!axes) return [];
    const shares = { x: (x - box.left) / box.width, y: (box.bottom - y) / box.height };
    return Object.entries(shares).map(([letter, share]) => reading(panels, axes, letter, share));
  }
  return [];
}

// Curves and points have a name and values near the pointer; a click on a curve or its name switches it off and on.
const tip = make("div", { className: "tip", hidden: true });
document.body.append(tip);
const curve = (target) => target?.closest("[data-curve]");
const STEPS = [0, 2, -2, 4, -4], NEAR = STEPS.flatMap((dx) => STEPS.map((dy) => [dx, dy]));  // pixels
const mark = (target) => curve(target) || (target?.matches("path, use") && target.closest("[data-axes]")
  && target !== target.closest("[data-axes]").querySelector("path"));
function enliven(drawing) {
  const figure = drawing.closest("figure");
  const of = (label) => all("[data-curve]", drawing).filter((each) => each.dataset.curve === label);
  // A legend may name what is no curve of its own.
  const labels = new Set(all("[data-axes] g[data-curve]:not(:empty):not(:has(text))", drawing)
    .map((each) => each.dataset.curve));
  const near = (x, y) => NEAR.map(([dx, dy]) => document.elementFromPoint(x + dx, y + dy))
    .filter((each) => drawing.contains(each));
  drawing.addEventListener("pointermove", ({ clientX, clientY }) => {
    const found = near(clientX, clientY), under = found.find(curve) ?? found.find(mark);
    const words = under ? [curve(under)?.dataset.curve, ...values(figure, clientX, clientY)].filter(Boolean) : [];
    tip.textContent = words.join(", ");
    tip.hidden = !words.length;
    tip.style.left = `${Math.max(0, Math.min(clientX + 12, innerWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${clientY + 14}px`;
  });
  drawing.addEventListener("pointerleave", () => { tip.hidden = true; });
  if (!labels.size) return;
  const toggles = [...labels].map((label) => make("button", { type: "button", textContent: label,
    aria: { "aria-pressed": "true" }, onclick: () => toggle(label) }));
  function toggle(label) {
    const off = !of(label)[0].classList.contains("off");
    for (const each of of(label)) each.classList.toggle("off", off);
    toggles.find((each) => each.textContent === label)?.setAttribute("aria-pressed", String(!off));
  }
  drawing.addEventListener("click", ({ clientX, clientY }) => {
    const found = near(clientX, clientY).find(curve);
    if (found) toggle(curve(found).dataset.curve);
  });
  drawing.after(make("details", { className: "curves" }, make("summary", { textContent: "curves" }),
    make("p", { className: "filters" }, ...toggles)));
}
for (const drawing of all(".drawing:has(svg)")) enliven(drawing);

// Drawings and what they plot can be saved, and commands copied.
function drawn(figure) {
  const image = figure.querySelector(".drawing > img");
  return image ? source(image) : new XMLSerializer().serializeToString(figure.querySelector(".drawing > svg"));
}
async function bitmap(text) {
  const image = make("img", { src: `data:image/svg+xml,${encodeURIComponent(text)}` });
  await image.decode();
  const paper = make("canvas", { width: 4 * image.naturalWidth, height: 4 * image.naturalHeight });
  paper.getContext("2d").drawImage(image, 0, 0, paper.width, paper.height);
  return new Promise((done) => { paper.toBlob(done, "image/png"); });
}
for (const figure of all("figure")) {
  const { name } = figure.dataset;
  figure.querySelector("figcaption").append(make("p", { className: "filters" },
    button("SVG", () => save(`${name}.svg`, "image/svg+xml", drawn(figure))),
    button("PNG", async () => save(`${name}.png`, "image/png", await bitmap(drawn(figure)))),
    button("JSON", () => save(`${name}.json`, "application/json", json({ name, ...plotted(figure) })))));
}
if (navigator.clipboard)
  for (const command of all(".command")) {
    const pressed = button("copy", () => copy(pressed, command.querySelector("code").textContent));
    command.append(pressed);
  }

// An address opens what it names, even if it is closed or filtered away.
function go() {
  const { id, query } = address();
  if (id.startsWith("agent-")) return agent(decodeURIComponent(id.slice(6)));
  if (id === "claims") {
    for (const key of Object.keys(chosen)) chosen[key] = query.get(key) ?? "";
    if (search) search.value = chosen.q;
    filter(false);
  }
  const target = document.getElementById(id);
  if (!target) return;
  if (target.hidden) { Object.assign(chosen, { verdict: "", part: "", q: "" }); filter(false); }
  if (target.matches(".claim")) target.querySelector("details").open = true;
  for (let each = target; each; each = each.parentElement) if (each.matches("details")) each.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", go);
if (location.hash) go();

// On paper everything that is closed on the screen is open, but tables and cases.
let closed = [];
addEventListener("beforeprint", () => {
  closed = all(".claim details:not([open]), details.more:not([open])");
  for (const details of closed) details.open = true;
  show(document);
});
addEventListener("afterprint", () => { for (const details of closed) details.open = false; });
document.documentElement.dataset.ready = Math.round(performance.now());
