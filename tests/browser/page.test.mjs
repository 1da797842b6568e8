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

test("a table is saved with all its rows", async () => {
  const page = await open();
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#winners .filters button:text('CSV')")]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n");
  assert.equal(lines.length, 1 + (await page.$$eval("#winners .data tbody tr", (rows) => rows.length)));
  assert.match(lines[0], /^agent,constants,/);
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

test("a curve shows its name under the pointer, and its button switches it off and on", async () => {
  const page = await open();
  await page.evaluate(() => { for (const each of document.querySelectorAll("details.case, .curves")) each.open = true; });
  const line = page.locator(".case .drawing g[data-curve] > path").first();
  await line.scrollIntoViewIfNeeded();
  await line.dispatchEvent("pointermove", { bubbles: true });
  const name = await line.evaluate((path) => path.closest("[data-curve]").dataset.curve);
  assert.equal(await page.textContent(".tip:not([hidden])"), name);
  const off = () => line.evaluate((path) => path.closest("[data-curve]").classList.contains("off"));
  const button = page.locator(".case .curves button", { hasText: new RegExp(`^${name}$`) }).first();
  await button.click();
  assert.ok(await off());
  await button.click();
  assert.ok(!(await off()));
});

test("drawings are saved as SVG that stands alone", async () => {
  const page = await open();
  const saved = page.locator("figcaption > button:text('SVG')").first();
  const [download] = await Promise.all([page.waitForEvent("download"), saved.click()]);
  const text = readFileSync(await download.path(), "utf8");
  assert.match(text, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
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

test("axe finds no violation", async () => {
  const page = await open();
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await page.evaluate(axe);  // by the debugger: the page's policy runs its own script alone
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 100)}`), []);
});
