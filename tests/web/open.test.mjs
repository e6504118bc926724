// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening: drop, dialog, several files that pair, #url=, the examples, and files that are no nets.

import { after, before, test } from 'node:test';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { assert, built, drop, dropAndShow, launch, models, openPage, root, serve, shot, shotBoth } from './support.mjs';

let server, browser, page;
before(async () => {
  server = await serve();
  browser = await launch();
  page = browser.page;
});
after(async () => {
  await browser.close();
  await server.close();
});

const shown = () => page.evaluate(() => {
  const { view, nets, documents, pairs } = window.weft.app.state;
  return { name: view?.net.name, ops: view?.net.numOps, nets: nets.length, documents: documents.length, pairs };
});

test('an empty page says what to drop and offers three examples', async () => {
  await openPage(page, server.url);
  assert.match(await page.textContent('.start'), /Drop files here/);
  assert.equal(await page.locator('.examples button').count(), 3);
  await shotBoth(page, 'start');
});

test('each example opens', async () => {
  for (const [i, ops] of [[0, 30], [1, 5], [2, 5]]) {
    await openPage(page, server.url);
    await page.locator('.examples button').nth(i).click();
    await page.waitForFunction(() => window.weft.app.timing.firstFrame > 0);
    assert.equal(await page.locator('.notice').count(), 0);
    assert.ok((await shown()).ops >= ops);
    assert.equal(await page.locator('.start').isVisible(), false);
    await shotBoth(page, `example-${i}`);
  }
});

test('a dropped file shows', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [join(models, 'resnet50_train.pb')]);
  const state = await shown();
  assert.equal(state.ops, 567);
  await shotBoth(page, 'resnet50_train');
});

test('an init net and its net pair by content, whatever their names', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [
    { name: 'first', bytes: readFileSync(join(models, 'alexnet_train_init.pb')) },
    { name: 'second', bytes: readFileSync(join(models, 'alexnet_train.pb')) },
  ]);
  const state = await shown();
  assert.equal(state.documents, 2);
  assert.equal(state.pairs.length, 1);
  const [pair] = state.pairs;
  assert.ok(pair.matched >= 16, `matched ${pair.matched}`);
  const current = await page.evaluate(() => window.weft.app.state.view.net.id);
  assert.equal(pair.net, current, 'the net shows, not the init net');
  assert.match(await page.textContent('.details'), /Filled by/);
  // Parameters are known as such now.
  const params = await page.evaluate(async () => {
    const { engine, state } = window.weft.app;
    const op = await engine.ask('describeOp', state.view.net.id, 0);
    return op.inputs.filter((p) => p.param).length;
  });
  assert.ok(params >= 2);
});

test('an init net that comes later fills the net that shows, which stays', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [join(models, 'alexnet_train.pb')]);
  const net = await page.evaluate(() => window.weft.app.state.view.net.id);
  await drop(page, [join(models, 'alexnet_train_init.pb')]);
  await page.waitForSelector('.details :text("Filled by")');
  assert.equal(await page.evaluate(() => window.weft.app.state.view.net.id), net);
});

test('another init net than the contents say can be chosen, or none', async () => {
  const net = (name, ...ops) => ({ name: `${name}.pbtxt`, bytes: Buffer.from(`name: "${name}" ${ops.join('\n')}`) });
  const fill = (blob, n) => `op { type: "ConstantFill" output: "${blob}" arg { name: "shape" ints: ${n} } }`;
  const files = [net('net', 'external_input: "x" external_input: "w" external_input: "b"', 'op { type: "Mul" input: "x" input: "w" output: "y" } op { type: "Add" input: "y" input: "b" output: "z" }'),
    net('whole', fill('w', 4), fill('b', 4)), net('part', fill('w', 7))];
  await openPage(page, server.url);
  await dropAndShow(page, files);
  const filled = () => page.textContent('.details section:has(.initchoice)');
  await page.waitForSelector('.initchoice');
  assert.match(await filled(), /^Filled bywhole2 inputs matched by content/);
  await shotBoth(page, 'init-choice');
  const params = () => page.evaluate(async () => Promise.all([0, 1].map(async (op) => (await window.weft.app.engine.ask('describeOp', window.weft.app.state.view.net.id, op)).inputs[1].param)));
  assert.deepEqual(await params(), [true, true]);
  const choose = async (label, said) => {
    await page.selectOption('.initchoice select', { label });
    await page.waitForFunction((text) => document.querySelector('.details section:has(.initchoice)')?.textContent.startsWith(text), said);
  };
  await choose('part', 'Filled bypart1 input filled');
  assert.deepEqual(await params(), [true, false]);
  // What follows from it: the command gets that one.
  await page.click('.rail [data-tool=shapes]');
  await page.waitForFunction(() => window.weft.app.measures.asked().join(' ') === 'shapes net.pbtxt --init part.pbtxt');
  await choose('none', 'Filled byNothing, as chosen');
  await page.waitForFunction(() => window.weft.app.measures.asked().join(' ') === 'shapes net.pbtxt');
  assert.deepEqual(await params(), [false, false]);
  await choose('as the contents say', 'Filled bywhole2 inputs matched by content');
  await page.waitForFunction(() => window.weft.app.measures.asked().join(' ') === 'shapes net.pbtxt --init whole.pbtxt');
});

test('the open dialog takes several files', async () => {
  await openPage(page, server.url);
  const chooser = page.waitForEvent('filechooser');
  await page.click('.start .open');
  await (await chooser).setFiles([join(models, 'char_rnn_2.pb'), join(models, 'char_rnn_2_init.pb')]);
  await page.waitForFunction(() => window.weft.app.timing.firstFrame > 0);
  assert.equal((await shown()).documents, 2);
});

test('a file that fails while another is read takes nothing from it', async () => {
  await openPage(page, server.url);
  const states = await page.evaluate(async (text) => {
    const { app } = window.weft, { engine } = app, read = engine.open;
    const bytes = () => new TextEncoder().encode(text);
    let finish;
    const held = new Promise((done) => (finish = done));
    engine.open = (file) => ({ result: held.then(() => read.call(engine, file).result), cancel() {} });
    const first = app.open([{ name: 'first.pbtxt', bytes: bytes() }]);
    app.state.sketched = true;
    engine.open = () => ({ result: Promise.reject(new Error('no net')), cancel() {} });
    await app.open([{ name: 'bad.pb', bytes: bytes() }]);
    const before = app.state.sketched;
    finish();
    await first;
    engine.open = read;
    return [before, app.state.sketched, app.state.view?.net.numOps];
  }, 'op { input: "x" output: "y" type: "Relu" }');
  assert.deepEqual(states, [true, false, 1]);
});

test('#url= opens a file from a server', async () => {
  const files = await serve(models);
  await page.goto('about:blank');
  await openPage(page, `${server.url}#url=${encodeURIComponent(files.url + 'vgga_train.pb')}`);
  await page.waitForFunction(() => window.weft.app.timing.firstFrame > 0);
  assert.equal(await page.evaluate(() => window.weft.app.state.documents[0].name), 'vgga_train.pb');
  assert.deepEqual(files.requests, ['/vgga_train.pb']);
  await files.close();
});

test('#url= that cannot be fetched gives a message', async () => {
  await page.goto('about:blank');
  await openPage(page, `${server.url}#url=${encodeURIComponent(server.url + 'missing.pb')}`);
  await page.waitForSelector('.notice');
  assert.match(await page.textContent('.notice'), /missing\.pb could not be fetched/);
  browser.problems.length = 0;
});

test('files that are no nets give a message, and the page lives on', async () => {
  await openPage(page, server.url);
  const net = readFileSync(join(models, 'resnet50_train.pb'));
  const bad = [
    { name: 'cut.pb', bytes: net.subarray(0, 5000) },
    { name: 'noise.bin', bytes: Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919 + 13) & 255)) },
    { name: 'page.html', bytes: Buffer.from('<!doctype html><html><body>not a net</body></html>') },
    { name: 'broken.pbtxt', bytes: Buffer.from('op { type: "Relu" input: "x" output: }') },
    { name: 'long.pb', bytes: Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3]) },
  ];
  for (const file of bad) {
    await drop(page, [file]);
    await page.waitForFunction((name) => document.querySelector('.notice')?.textContent.includes(name), file.name);
    const text = await page.textContent('.notice p');
    assert.ok(text.length > 10, `${file.name}: "${text}"`);
  }
  await shot(page, 'bad-file');
  const corpus = join(root, 'tests/fuzz/corpus');
  let tried = 0;
  if (existsSync(corpus)) {
    for (const folder of readdirSync(corpus, { withFileTypes: true }).filter((e) => e.isDirectory())) {
      for (const name of readdirSync(join(corpus, folder.name)).slice(0, 60)) {
        await drop(page, [{ name, bytes: readFileSync(join(corpus, folder.name, name)) }]);
        await page.waitForFunction(() => !window.weft.app.state.working);
        ++tried;
      }
    }
  }
  console.log(`corrupt files tried: ${bad.length + tried}`);
  // One good file among bad ones still opens.
  await dropAndShow(page, [bad[0], { name: 'good.pb', bytes: net }]);
  await page.waitForFunction(() => window.weft.app.state.view?.net.numOps === 567);
  assert.match(await page.textContent('.notice'), /cut\.pb could not be read/);
  assert.deepEqual(browser.problems, []);
});

test('the built page is there', () => {
  for (const name of ['index.html', 'weft.html', 'main.js', 'worker.js', 'weft.wasm', 'render.wasm']) assert.ok(existsSync(join(built, name)), name);
});
