// Opens the dashboard in a real browser, headless, and looks at what it shows. Says what is wrong
// and exits 1, or prints what it saw as JSON and exits 0.
//
//     node dashboard_client.mjs SPEC.json
//
// SPEC: modules (folder with playwright-core), browser (path), url, scenario, and what it takes;
// screenshots (optional): a folder for pictures.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import assert from "node:assert/strict";

const spec = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { chromium } = createRequire(join(spec.modules, "anchor.js"))("playwright-core");

const browser = await chromium.launch({
  executablePath: spec.browser,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});

// A page that notes what no page of ours may do: errors, dialogs, requests to other hosts.
async function open(options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("401")) faults.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(spec.url) && !request.url().startsWith("data:")) {
      faults.push(`another host: ${request.url()}`);
    }
  });
  await page.goto(spec.url);
  return { page, faults, context };
}

const textOf = (page, id) => page.locator(`#${id}`).textContent();
const waitText = (page, id, wanted) =>
  page.waitForFunction(
    ([at, words]) => document.getElementById(at).textContent.includes(words),
    [id, wanted],
    { timeout: 30000 },
  );

// Pixels of a canvas that are not empty, and how many colours there are among them.
const painted = (page, id) =>
  page.evaluate((at) => {
    const canvas = document.getElementById(at);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] === 0) continue;
      count++;
      colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    }
    return { count, colours: colours.size };
  }, id);

async function picture(page, name, whole) {
  if (spec.screenshots) {
    await page.screenshot({ path: join(spec.screenshots, `${name}.png`), fullPage: whole });
  }
}

const scenarios = {
  // A daemon that has proved spec.jobs; spec.hostile is the id of one that is markup.
  async shows() {
    const { page, faults, context } = await open({ viewport: { width: 1280, height: 860 } });
    await waitText(page, "health", "ready");
    for (const id of [...spec.jobs, spec.hostile]) await waitText(page, "recent", id);
    assert.equal(
      await page.evaluate(() => document.querySelectorAll("#recent img, #recent script").length),
      0,
    );
    assert.equal(await page.evaluate(() => window.hostile), undefined);
    await waitText(page, "errors", spec.failed);
    await waitText(page, "errors", spec.reason);
    const seen = {
      version: await textOf(page, "version"),
      completed: await textOf(page, "tile-completed"),
      failed: await textOf(page, "tile-failed"),
      devices: await page.locator("#devices .device").count(),
      keys: await textOf(page, "keys"),
      waterfall: await painted(page, "waterfall"),
      memory: await painted(page, "memory-chart"),
      throughput: await painted(page, "throughput-chart"),
      queue: await painted(page, "queue-chart"),
    };
    await picture(page, "dashboard", false);
    await page.locator("#range button", { hasText: "15 min" }).click();
    assert.equal(await page.locator("#range button.chosen").textContent(), "15 min");
    await page.mouse.move(0, 0);
    const box = await page.locator("#memory-chart").boundingBox();
    await page.mouse.move(box.x + box.width - 20, box.y + box.height / 2);
    assert.match(await textOf(page, "tip"), /resident/);
    await page.mouse.move(0, 0);
    await picture(page, "dashboard-whole", true);
    assert.deepEqual(faults, []);
    await context.close();
    return seen;
  },

  async phone() {
    const { page, faults } = await open({
      viewport: { width: 360, height: 780 },
      hasTouch: true,
      isMobile: true,
    });
    await waitText(page, "health", "ready");
    await waitText(page, "recent", spec.jobs[0]);
    const widths = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      window.innerWidth,
    ]);
    assert.ok(widths[0] <= widths[1], `the page is ${widths[0]} wide on a screen of ${widths[1]}`);
    const cut = await page.evaluate(
      () =>
        [...document.querySelectorAll(".card, .tile")].filter(
          (card) => card.getBoundingClientRect().right > window.innerWidth + 1,
        ).length,
    );
    assert.equal(cut, 0);
    await picture(page, "dashboard-phone", false);
    assert.deepEqual(faults, []);
    return { widths };
  },

  async themes() {
    const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await open({ colorScheme: "light" });
    const dark = await open({ colorScheme: "dark", viewport: { width: 1280, height: 860 } });
    await waitText(dark.page, "health", "ready");
    const [day, night] = [await ground(light.page), await ground(dark.page)];
    assert.notEqual(day, night);
    await picture(dark.page, "dashboard-dark", false);
    await dark.page.locator("#theme").click();
    assert.equal(await ground(dark.page), day);
    await dark.page.reload();
    assert.equal(await ground(dark.page), day, "the choice is kept");
    assert.deepEqual([...light.faults, ...dark.faults], []);
    return { day, night };
  },

  // A daemon that wants a token of everybody.
  async token() {
    const { page } = await open({});
    await waitText(page, "health", "token needed");
    await page.locator("#token").fill("not-this-token-at-all");
    await page.locator("#login button").click();
    await waitText(page, "login-error", "not known");
    await page.locator("#token").fill(spec.token);
    await page.locator("#login button").click();
    await waitText(page, "health", "ready");
    assert.equal(await page.locator("#login").isVisible(), false);
    return {};
  },

  // The address answers no more after this page was opened: spec.process is ended.
  async lost() {
    const { page } = await open({});
    await waitText(page, "health", "ready");
    process.kill(spec.process, "SIGTERM");
    await waitText(page, "health", "not connected");
    return {};
  },
};

try {
  const seen = await scenarios[spec.scenario]();
  console.log(JSON.stringify(seen));
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await browser.close();
}
