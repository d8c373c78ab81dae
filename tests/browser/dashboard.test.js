// Opens the dashboard in a real browser and checks what a person would see.
//   DASHBOARD_COMMAND   starts a server that prints its address (default: the fixture of the release build)
//   CHROMIUM            the browser (default: /usr/bin/chromium)
//   SCREENSHOTS         a folder for pictures (default: none are kept)
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const command = process.env.DASHBOARD_COMMAND ??
  new URL('../../build/release/dashboard_fixture', import.meta.url).pathname;
const screenshots = process.env.SCREENSHOTS;
if (screenshots) mkdirSync(screenshots, { recursive: true });

let browser;
let profile;
before(async () => {
  profile = mkdtempSync(join(tmpdir(), 'evenkeel-browser-'));
  browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
});
after(async () => {
  await browser?.close();
  rmSync(profile, { recursive: true, force: true });
});

// The address the server prints, and a way to end it: its standard input.
function startServer(...flags) {
  const server = spawn(command, flags, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise((resolve) => server.on('exit', resolve));
  const finish = () => server.stdin.write('\n');
  const stop = async () => { server.stdin.end(); await exited; };
  return new Promise((resolve, reject) => {
    let output = '';
    server.on('error', reject);
    server.stdout.on('data', (text) => {
      output += text;
      const address = output.match(/http:\/\/\S+/);
      if (address) resolve({ url: address[0], finish, stop, kill: async () => { server.kill(); await exited; } });
    });
    exited.then((code) => reject(new Error(`${command} ended with ${code} before printing an address`)));
  });
}

// A page that fails the test where it complains or talks to anybody but its server.
async function open(url, { width = 1280, height = 1000, scheme = 'light' } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(90_000);  // machines are slow at times; what never comes fails all the same
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) complaints.push(`asked ${request.url()}`);
  });
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme });
  await page.goto(url);
  return { page, complaints };
}

const picture = async (page, name) => {
  if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
};

// Distinct colours in a canvas: one means that nothing was drawn.
const coloursDrawn = (canvas) => canvas.evaluate((element) => {
  const { data } = element.getContext('2d').getImageData(0, 0, element.width, element.height);
  return new Set(new Uint32Array(data.buffer)).size;
});

const overflows = (page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

test('a run is visible while it goes on, and its comparison at the end', async () => {
  const server = await startServer('--step-ms', '50');
  const { page, complaints } = await open(server.url);
  try {
    const panels = page.getByRole('region', { name: /^Policy / });
    await panels.nth(2).waitFor();
    assert.deepEqual(await panels.getByRole('heading', { level: 2 }).allTextContents(), ['kube-default', 'greedy', 'horizon']);
    assert.equal(await page.getByRole('status').textContent(), 'live');

    const cells = panels.first().getByRole('row', { name: /worker-0/ }).getByRole('cell');
    assert.equal(await cells.count(), 7, 'six utilisations and the pods');
    for (const text of (await cells.allTextContents()).slice(0, 6)) assert.match(text, /^\s*\d+\s*$/);
    for (const name of ['running', 'pending', 'finished']) await panels.first().getByText(name, { exact: true }).waitFor();

    const decision = panels.last().getByRole('listitem').first();
    await decision.waitFor();
    assert.match(await decision.textContent(), /\d\d:\d\d:\d\d.*checkout/s);
    assert.match(await panels.last().textContent(), /least expected imbalance/);

    const clock = page.locator('time.clock');
    const earlier = await clock.textContent();
    await page.waitForFunction((text) => document.querySelector('time.clock').textContent !== text, earlier);

    for (const title of ['Imbalance', 'Mean utilisation']) {
      const chart = page.getByRole('region', { name: title, exact: true });
      assert.match(await chart.getByRole('img').getAttribute('aria-label'), /horizon now [0-9.]+/);
      assert.ok(await coloursDrawn(chart.locator('canvas')) > 3, `${title} is drawn`);
    }
    const learning = page.getByRole('region', { name: 'Learning of greedy' });
    assert.equal(await page.getByRole('region', { name: /^Learning of / }).count(), 1, 'rules learn nothing');
    assert.match(await learning.textContent(), /from [\d,]+ pods/);
    for (const name of ['reward', 'loss', 'epsilon']) {
      const curve = learning.getByRole('img', { name: new RegExp(`^${name} over [\\d,]+ pods, now -?[0-9.]+$`) });
      assert.match(await curve.locator('path').getAttribute('d'), /^M[\d.]+ [\d.]+L/, `${name} is drawn`);
    }
    const replicas = page.getByRole('region', { name: 'Replicas of site', exact: true });
    assert.match(await replicas.getByRole('img').getAttribute('aria-label'), /hpa now \d+, evenkeel now \d+/);
    for (const chart of [replicas, page.getByRole('region', { name: 'Requests per second', exact: true })])
      assert.ok(await coloursDrawn(chart.locator('canvas')) > 2, 'replicas and requests are drawn');
    for (const policy of ['hpa', 'evenkeel']) {
      const lane = page.getByRole('region', { name: `Scaling by ${policy}` });
      assert.match(await lane.textContent(), /stays at \d+ by .*176 requests a second need 4/s);
      assert.match(await lane.textContent(), /\d+ → \d+.*room for 1 more on worker-2/s);
    }
    await picture(page, 'running');

    server.finish();
    const table = page.getByRole('region', { name: 'Comparison' }).getByRole('table');
    await table.waitFor();
    assert.equal(await page.getByRole('status').textContent(), 'finished');
    assert.match(await table.getByRole('row', { name: /horizon/ }).textContent(), /0\.0730 ± 0\.0030\s*★/);
    assert.match(await table.getByRole('row', { name: /clairvoyant/ }).textContent(), /reference/);
    const scaled = page.getByRole('region', { name: 'Scaling compared' }).getByRole('table');
    assert.match(await scaled.getByRole('row', { name: /evenkeel/ }).textContent(), /2\.61.*★/);
    assert.equal(await overflows(page), false);
    await picture(page, 'finished');

    const late = await open(server.url, { width: 800, scheme: 'dark' });
    await late.page.getByRole('region', { name: 'Comparison' }).waitFor();
    assert.equal(await overflows(late.page), false, 'fits into 800 pixels');
    const background = await late.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(background, 'rgb(16, 21, 27)');
    assert.ok(await coloursDrawn(late.page.locator('canvas').first()) > 3, 'a page opened late sees the whole run');
    await picture(late.page, 'dark-800');
    assert.deepEqual([...complaints, ...late.complaints], []);
    await late.page.close();
  } finally {
    await page.close();
    await server.stop();
  }
});

test('a large cluster is a heat map of all nodes and a table of the worst', async () => {
  const server = await startServer('--nodes', '900', '--step-ms', '100');
  const { page, complaints } = await open(server.url);
  try {
    const panel = page.getByRole('region', { name: 'Policy kube-default' });
    await panel.getByText('Busiest 12 of 900 nodes').waitFor();
    assert.equal(await panel.locator('tbody tr').count(), 12);
    assert.match(await panel.getByRole('img').getAttribute('aria-label'), /\d+ nodes 80 to 99 %/);
    assert.ok(await coloursDrawn(panel.locator('canvas')) >= 3);
    await picture(page, 'large');
    assert.deepEqual(complaints, []);
  } finally {
    await page.close();
    await server.kill();
  }
});

test('a lost connection is said, and what was last known stays', async () => {
  const server = await startServer('--step-ms', '50');
  const { page } = await open(server.url);
  try {
    await page.getByRole('region', { name: 'Policy horizon' }).waitFor();
    await server.kill();
    await page.getByText('connection lost, retrying').waitFor();
    assert.equal(await page.getByRole('region', { name: /^Policy / }).count(), 3);
  } finally {
    await page.close();
  }
});
