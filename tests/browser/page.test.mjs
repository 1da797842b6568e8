// The report in a real browser: what its script does, and what it must not do. CHROMIUM and PAGE are paths.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const address = `file://${process.env.PAGE}`;
let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
});
after(() => browser.close());

async function open(hash = "", options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.wrong = [];
  page.on("console", (message) => message.type() === "error" && page.wrong.push(message.text()));
  page.on("pageerror", (error) => page.wrong.push(error.message));
  page.on("request", (request) => /^(data|blob):|^file:.*report\.html|\.html$/.test(request.url().split(/[?#]/)[0])
    || page.wrong.push(request.url()));
  await page.goto(address + hash);
  return page;
}
const column = (page, n) => page.$$eval(`#winners tbody tr:not([hidden]) > :nth-child(${n})`,
  (cells) => cells.map((cell) => cell.textContent));

test("it is small, quick, and neither asks for anything nor complains", async () => {
  const page = await open();
  const found = await page.evaluate(() => ({
    elements: document.querySelectorAll("*").length,
    ready: Number(document.documentElement.dataset.ready),
  }));
  const bytes = statSync(process.env.PAGE).size;
  console.log({ bytes, ...found });
  assert.ok(bytes <= 4e6, `${bytes} bytes`);
  assert.ok(found.elements <= 25_000, `${found.elements} elements`);
  assert.ok(found.ready < 1500, `interactive after ${found.ready} ms`);
  assert.deepEqual(page.wrong, []);
});

for (const [width, scheme] of [[1280, "light"], [390, "light"], [390, "dark"]])
  test(`nothing is wider than a window of ${width} pixels, ${scheme}`, async () => {
    const page = await open("", { viewport: { width, height: 800 }, colorScheme: scheme });
    for (const details of [false, true]) {
      await page.evaluate((all) => { for (const each of document.querySelectorAll("details")) each.open ||= all; }, details);
      const wide = await page.evaluate(() => [...document.querySelectorAll("body *")]
        .filter((each) => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest(".scroll, pre, svg, nav, .command, math"))
        .map((each) => `${each.tagName} ${each.className}`));
      assert.deepEqual(wide, []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    }
  });

test("tables sort and filter, and the address remembers it", async () => {
  const page = await open();
  const values = (texts) => texts.map(parseFloat).filter((value) => !isNaN(value));
  await page.click("#winners thead th:nth-child(3) button");
  const up = values(await column(page, 3));
  assert.deepEqual(up, [...up].sort((a, b) => a - b));
  await page.click("#winners thead th:nth-child(3) button");
  assert.deepEqual(values(await column(page, 3)), [...up].reverse());
  const role = (await column(page, 2))[0];
  await page.evaluate(() => { location.hash = ""; });
  const chip = page.locator("#winners .data .filters button", { hasText: role }).first();
  if (await chip.count()) {
    await chip.click();
    assert.deepEqual([...new Set(await column(page, 2))], [role]);
    assert.match(page.url(), new RegExp(`constants=${role}`));
    const again = await open(new URL(page.url()).hash);
    assert.deepEqual(await column(again, 1), await column(page, 1));
  }
  assert.deepEqual(page.wrong, []);
});

test("a table is saved with all its rows, as CSV and JSON", async () => {
  const page = await open();
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#winners .data .filters button:text('CSV')")]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n");
  assert.equal(lines.length, 1 + (await page.$$eval("#winners .data tbody tr", (rows) => rows.length)));
  assert.match(lines[0], /^agent,constants,/);
  const [other] = await Promise.all([page.waitForEvent("download"), page.click("#winners .data .filters button:text('JSON')")]);
  const rows = JSON.parse(readFileSync(await other.path(), "utf8"));
  assert.deepEqual([rows.length, ...Object.keys(rows[0])], [lines.length - 1, ...lines[0].split(",")]);
});

test("an agent's address shows its rows of all cases", async () => {
  const page = await open("#agent-greedy");
  const rows = await page.$$eval("#agent tbody tr", (all) => all.map((row) => row.children[1].textContent));
  assert.ok(rows.length > 0 && rows.every((name) => name === "greedy"));
  await page.click("#agent thead th:nth-child(5) button");
  assert.match(page.url(), /#agent-greedy\?sort=4$/);
  const again = await open(new URL(page.url()).hash);
  assert.equal(await again.textContent("#agent tbody"), await page.textContent("#agent tbody"));
});

test("statements are found by class and by text, by address too, and a link opens one that is filtered away", async () => {
  const page = await open("#claims?verdict=fails");
  const shown = () => page.$$eval(".claim:not([hidden])", (all) => all.map((claim) => claim.dataset.verdict));
  assert.ok((await shown()).every((verdict) => verdict === "fails"));
  const all = (await page.$$(".claim")).length;
  await page.click(".filters [data-value='fails']");
  assert.equal((await shown()).length, all);
  await page.fill("#claims-search", "C62");
  const found = (await shown()).length;
  assert.ok(found > 0 && found < all);
  assert.match(page.url(), /q=C62/);
  await page.fill("#claims-search", "no statement says this");
  await page.evaluate(() => { location.hash = "claim-C62"; });
  await page.waitForSelector("#claim-C62 details[open]");
  await page.click("#claims-expand");
  assert.equal((await page.$$(".claim details:not([open])")).length, 0);
});

test("a curve shows its name and values near the pointer, and its button switches it off and on", async () => {
  const page = await open();
  await page.evaluate(() => { for (const each of document.querySelectorAll("details.case")) each.open = true; });
  await page.waitForSelector(".case [data-name^='regret_'] .drawing > svg");
  await page.evaluate(() => { for (const each of document.querySelectorAll(".curves")) each.open = true; });
  // Near the end of a curve on which no other lies.
  const [name, x, y] = await page.evaluate(() => {
    const figure = document.querySelector(".case [data-name^='regret_']");
    figure.scrollIntoView({ block: "center" });
    const ends = [...figure.querySelectorAll("[data-axes] g[data-curve] > path")].map((path) => {
      const { x, y } = path.getPointAtLength(path.getTotalLength() * 0.97).matrixTransform(path.getScreenCTM());
      return [path.closest("[data-curve]").dataset.curve, x, y];
    });
    return ends.find(([name, x, y]) => document.elementFromPoint(x, y).closest("[data-curve]")?.dataset.curve === name);
  });
  await page.mouse.move(x, y);
  const said = await page.textContent(".tip:not([hidden])");
  assert.match(said, /, episode k = [\d.]+( · 10[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?, cumulative regret = [\d.]+/);
  assert.equal(said.split(", episode k")[0], name);
  // The values are those of the curve: the axis of episodes ends at the last one, and 0.97 of the way is near it.
  const last = await page.evaluate(() => {
    const plotted = JSON.parse(document.getElementById("plotted").content.textContent);
    return Number(plotted[document.querySelector(".case [data-name^='regret_']").dataset.name].axes[0].x.limits.split(" ")[1]);
  });
  const episode = Number(said.match(/episode k = ([\d.]+)/)[1]);
  assert.ok(episode > 0.5 * last && episode <= last, `${episode} of ${last}`);
  const off = () => page.evaluate((name) => [...document.querySelectorAll(".case [data-name^='regret_'] [data-curve]")]
    .find((each) => each.dataset.curve === name).classList.contains("off"), name);
  await page.mouse.click(x, y);
  assert.ok(await off());
  const button = page.locator(".case .curves button").getByText(name, { exact: true }).first();
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  await button.click();
  assert.ok(!(await off()));
  assert.deepEqual(page.wrong, []);
});

test("a figure becomes text that can be found when it is opened", async () => {
  const page = await open();
  const counted = () => page.evaluate(() => ["img", "svg"].map((tag) => document.querySelectorAll(`.drawing > ${tag}`).length));
  const [images, drawings] = await counted();
  assert.ok(images > 0);
  const section = await page.evaluate(() => document.querySelector("details.more:has(img)").closest("section").id);
  const closed = page.locator(`#${section} > details.more`);
  const inside = await closed.locator(".drawing").count();
  await closed.locator("> summary").click();
  await page.waitForFunction((n) => document.querySelectorAll(".drawing > svg").length >= n, drawings + inside);
  assert.deepEqual(await counted(), [images - inside, drawings + inside]);
  const svg = closed.locator(".drawing > svg").first();
  assert.ok((await svg.getAttribute("aria-label")).length > 0);
  const texts = await svg.locator("text:not(:has(tspan))").allTextContents();
  const text = texts.sort((a, b) => b.length - a.length)[0];
  assert.ok(await page.evaluate((text) => { getSelection().removeAllRanges(); return find(text); }, text), text);
  const ids = await page.$$eval("[id]", (all) => all.map((each) => each.id));
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(page.wrong, []);
});

test("drawings are saved as SVG that stands alone, as PNG and with what they plot", async () => {
  const page = await open();
  const ids = await page.evaluate(() => ["svg", "img"].map((tag) => document.querySelector(`figure:has(.drawing > ${tag})`).id));
  for (const id of ids) {
    const figure = page.locator(`#${id}`);
    await figure.evaluate((each) => { for (let up = each; up; up = up.parentElement) if (up.matches("details")) up.open = true; });
    const saved = async (kind) => {
      const pressed = figure.locator(`figcaption button:text-is('${kind}')`);
      const [download] = await Promise.all([page.waitForEvent("download"), pressed.click()]);
      return readFileSync(await download.path());
    };
    assert.match((await saved("SVG")).toString(), /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    const bitmap = await saved("PNG");
    assert.equal(bitmap.subarray(1, 4).toString(), "PNG");
    assert.ok(bitmap.readUInt32BE(16) > 900, `${bitmap.readUInt32BE(16)} pixels wide`);
    const plotted = JSON.parse(await saved("JSON"));
    assert.equal(plotted.name, await figure.getAttribute("data-name"));
    assert.ok(plotted.axes.length > 0);
  }
  assert.deepEqual(page.wrong, []);
});

test("a figure and a statement that it shows lead to each other, and a figure to its table", async () => {
  const page = await open();
  const link = page.locator(".claim .sources a").first();
  const target = await link.getAttribute("href");
  await link.evaluate((each) => each.click());
  await page.waitForFunction((id) => document.querySelector(id).getBoundingClientRect().top < innerHeight, target);
  assert.ok(await page.locator(target).isVisible());
  const hrefs = await page.$$eval("figure .sources a", (all) => all.map((each) => each.getAttribute("href")));
  assert.ok(hrefs.length > 0);
  for (const href of hrefs) assert.ok(await page.$(`${href}.data`), href);
});

test("the first stop of the keyboard skips to the content, which comes within 60 stops", async () => {
  const page = await open();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  const stops = await page.evaluate(() => {
    const focusable = [...document.querySelectorAll("a[href], button, input, summary, [tabindex]")];
    return focusable.findIndex((each) => document.querySelector("main").contains(each));
  });
  console.log({ stops });
  assert.ok(stops <= 60);
});

for (const [width, scheme] of [[1280, "light"], [1280, "dark"], [390, "light"], [390, "dark"]])
  test(`axe finds no violation in a window of ${width} pixels, ${scheme}`, async () => {
    const page = await open("", { viewport: { width, height: 900 }, colorScheme: scheme });
    const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    // One of each kind of what is closed is open; a pressed button has other colours.
    await page.evaluate(() => {
      for (const kind of [".claim details", "details.more", "details.case", "details.case > .data", "details.curves"])
        document.querySelector(kind)?.setAttribute("open", "");
      document.querySelector("[data-filter='verdict']")?.click();
    });
    await page.waitForTimeout(300);
    await page.evaluate(axe);  // by the debugger: the page's policy runs its own script alone
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 100)).join(" | ")}`), []);
  });

test("on paper the evidence and the figures are open, and closed again on the screen", async () => {
  const page = await open();
  const opened = () => page.evaluate(() => [".claim details:not([open])", "details.more:not([open])", ".more .drawing > img"]
    .map((each) => document.querySelectorAll(each).length));
  const before = await opened();
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.deepEqual(await opened(), [0, 0, 0]);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.deepEqual((await opened()).slice(0, 2), before.slice(0, 2));
  const paper = await page.pdf({ format: "A4" });
  const pages = (paper.toString("latin1").match(/\/Type\s*\/Page\b/g) ?? []).length;
  console.log({ pages });
  assert.ok(pages > 3, `${pages} pages`);
});
