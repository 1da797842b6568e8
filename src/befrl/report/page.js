// Without scripts all text is there; with scripts tables sort and filter, curves have names, and claims can be searched.
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

function save(name, type, text) {
  const link = make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
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
    button("CSV", () => save(`${name}.csv`, "text/csv", csv(lines))));
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

// Curves: their names under the pointer, and switched off and on by a click on their names.
const tip = make("div", { className: "tip", hidden: true });
document.body.append(tip);
const curve = (target) => target.closest?.("[data-curve]");
for (const drawing of all(".drawing:has([data-curve])")) {
  const of = (name) => all("[data-curve]", drawing).filter((each) => each.dataset.curve === name);
  const lines = new Set(all("g[data-curve]", drawing).filter((each) => !each.querySelector("text"))
    .map((each) => each.dataset.curve));
  drawing.addEventListener("pointermove", ({ target, clientX, clientY }) => {
    const under = curve(target);
    tip.hidden = !under;
    if (under) tip.textContent = under.dataset.curve;
    tip.style.left = `${Math.min(clientX + 12, innerWidth - 160)}px`;
    tip.style.top = `${clientY + 14}px`;
  });
  drawing.addEventListener("pointerleave", () => { tip.hidden = true; });
  const toggles = [...lines].map((name) => make("button", { type: "button", textContent: name,
    aria: { "aria-pressed": "true" }, onclick: () => toggle(name) }));
  function toggle(name) {
    const off = !of(name)[0].classList.contains("off");
    for (const each of of(name)) each.classList.toggle("off", off);
    toggles.find((each) => each.textContent === name)?.setAttribute("aria-pressed", String(!off));
  }
  drawing.addEventListener("click", ({ target }) => { if (curve(target)) toggle(curve(target).dataset.curve); });
  drawing.after(make("details", { className: "curves" }, make("summary", { textContent: "curves" }),
    make("p", { className: "filters" }, ...toggles)));
}

// Drawings can be saved, and commands copied.
for (const figure of all("figure")) {
  const [image, drawing] = [figure.querySelector("img"), figure.querySelector("svg")];
  const text = () => (image ? decodeURIComponent(image.src.slice(image.src.indexOf(",") + 1)) : drawing.outerHTML
    .replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"'));
  figure.querySelector("figcaption").append(button("SVG", () => save(`${figure.dataset.name}.svg`, "image/svg+xml", text())));
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
});
addEventListener("afterprint", () => { for (const details of closed) details.open = false; });
document.documentElement.dataset.ready = Math.round(performance.now());
