// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes, costs and memory in the page are those of `weft shapes --json` and `weft pass memory`: on a training net with its
// init net, with wrong shapes, with symbols, inside loops.

import { test } from 'node:test';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, dropAndShow, models, openPage, root, settle, shotBoth, weft, withBrowser } from './support.mjs';

let server, page;
withBrowser((made) => ({ server, page } = made));

const resnet = ['resnet50_train.pb', 'resnet50_train_init.pb'].map((name) => join(models, name));
const native = (words) => JSON.parse(spawnSync(weft, [...words, '--json'], { maxBuffer: 1 << 28 }).stdout);
const given = ['--input', 'data=8,3,224,224', '--input', 'label=8:int32'];

/** What the page holds, once it has answered for these inputs. */
const told = async (inputs) => {
  await page.waitForFunction((wanted) => {
    const { measures } = window.weft.app;
    return measures.told() && measures.asked().filter((word) => word.includes('=')).join() === wanted.join();
  }, inputs);
  return page.evaluate(() => window.weft.app.measures.told());
};
const give = async (name, shape, type) => {
  await page.fill(`.shapes [aria-label="Shape of ${name}"]`, shape);
  if (type) await page.selectOption(`.shapes [aria-label="Type of ${name}"]`, type);
};
const openShapes = async (files) => {
  await openPage(page, server.url);
  await dropAndShow(page, files);
  await page.click('.rail [data-tool=shapes]');
  await told([]);
};
/** What is written beside edges, once it is certain that it covers no box, no other label and not the minimap. */
const labelsFit = async () => {
  await settle(page);
  const { labels, over } = await page.evaluate(() => {
    const { edgeLabels, render, view } = window.weft, over = [], margin = render.margin();
    const boxes = [];
    for (let op = 0; op < window.weft.app.state.view.net.numOps; ++op) {
      const rect = render.opRect(op);
      if (rect) boxes.push({ ...view.toScreen(rect.x, rect.y), w: rect.w * view.camera.scale, h: rect.h * view.camera.scale });
    }
    const apart = (a, b) => a.x + a.w <= b.x + 0.5 || b.x + b.w <= a.x + 0.5 || a.y + a.h <= b.y + 0.5 || b.y + b.h <= a.y + 0.5;
    for (const [i, label] of edgeLabels.entries()) {
      if (label.x < 0 || label.x + label.w > view.width - margin.right) over.push(`${label.text} is cut`);
      for (const box of boxes) if (!apart(label, box)) over.push(`${label.text} over a box`);
      for (const other of edgeLabels.slice(0, i)) if (!apart(label, other)) over.push(`${label.text} over ${other.text}`);
    }
    return { labels: edgeLabels.map(({ text }) => text), over };
  });
  assert.deepEqual(over, []);
  return labels;
};

test('all that the command tells of resnet50 is in the page, and its sums on the screen', async () => {
  await openShapes(resnet);
  await give('data', '8, 3, 224, 224');
  await give('label', '8', 'int32');
  assert.deepEqual(await told(['data=8,3,224,224', 'label=8:int32']), native(['shapes', resnet[0], '--init', resnet[1], ...given]));
  const total = (key) => page.textContent(`.shapes [data-total=${key}]`);
  const text = execFileSync(weft, ['shapes', resnet[0], '--init', resnet[1], ...given]).toString();
  const row = text.match(/^total +\d+ +(\S+ \S+) +(\S+ \S+) +(\S+ \S+) +(\S+ \S+)$/m);
  assert.deepEqual([await total('flops'), await total('read'), await total('written')], [`${row[1]} flop`, row[2], row[3]]);
  const [, parameterBytes, peak, peakOp] = text.match(/^parameters ([^;]*); state [^;]*; at most (.*) live at once, at op (\d+)/m);
  assert.equal(await total('parameters'), `${row[4]}, ${parameterBytes}`);
  assert.match(await total('state'), new RegExp(`, ${/; state ([^;]*);/.exec(text)[1]}$`));
  assert.equal(await page.textContent('.shapes [data-live]'), peak);
  assert.equal(await page.getAttribute('.shapes [data-live]', 'data-live'), peakOp);
  await shotBoth(page, 'shapes-resnet50');
  // Beside the edges: the shape of each value is written where it leaves its writer, and runs over nothing.
  const texts = await labelsFit();
  assert.ok(texts.length > 5 && texts.includes('8×64×112×112  25.7 MB'), texts.join());
  const value = await page.evaluate(() => window.weft.app.measures.text(window.weft.edgeLabels[0].value));
  assert.equal(texts[0].replace('  ', ', '), value);
  await page.evaluate(() => window.weft.app.change({ mode: 1 }));
  await page.waitForFunction(() => window.weft.app.state.view.mode === 1);
  await labelsFit();
  await shotBoth(page, 'shapes-edges-flow');
  for (const dy of [400, 900, 1700]) {
    await page.evaluate((y) => window.weft.view.pan(0, y), dy);
    await labelsFit();
  }
  await page.evaluate(() => window.weft.app.change({ horizontal: true }));
  assert.ok((await labelsFit()).length > 3);
  await shotBoth(page, 'shapes-edges-across');
  await page.evaluate(() => window.weft.app.change({ horizontal: false, mode: 2 }));
});

test('the blobs of the peak add up to it, the dearest operator is on top and a click goes there', async () => {
  const shapes = native(['shapes', resnet[0], '--init', resnet[1], ...given]);
  const rows = await page.locator('.shapes .costrow.live').allTextContents();
  const live = shapes.blobs.filter((b) => b.live && b.live[0] <= shapes.peak.op && shapes.peak.op <= b.live[1]);
  assert.equal(live.reduce((sum, b) => sum + b.bytes, 0), shapes.peak.bytes);
  assert.equal(shapes.live[shapes.peak.op], shapes.peak.bytes);
  const most = live.sort((a, b) => b.bytes - a.bytes)[0];
  assert.ok(rows[0].startsWith(`${most.name}@${most.version}`), rows[0]);
  for (const [at, key] of ['flops', 'read', 'written', 'parameters'].entries()) {
    await page.click(`.shapes .costtable >> nth=0 >> .head button >> nth=${at}`);
    const dearest = [...shapes.operators].sort((a, b) => b[key] - a[key])[0];
    assert.ok((await page.textContent('.shapes .costtable .costrow:not(.head)')).startsWith(dearest.op + dearest.type), key);
  }
  await page.click('.shapes .costtable >> nth=0 >> .head button >> nth=0');
  await page.click('.shapes .costtable .costrow:not(.head) >> nth=0');
  const top = [...shapes.operators].sort((a, b) => b.flops - a.flops)[0].op;
  await page.waitForFunction((op) => window.weft.app.selectedOp() === op, top);
  const blob = shapes.blobs.find((b) => b.op === top);
  assert.equal(await page.textContent('.details section:has-text("Writes") .shape'), `${blob.shape.join('×')}, ${(blob.bytes / 1e3).toFixed(1)} KB`);
});

test('what reusing and recomputing save is what the command tells; a click shows the net that the pass makes', async () => {
  await page.click('.shapes >> text=What reusing and recomputing would save');
  await page.waitForSelector('.shapes [data-saved=reuse]', { timeout: 60_000 });
  const { savings } = native(['shapes', resnet[0], '--init', resnet[1], ...given, '--savings']);
  const mb = (n) => `${(n / 10 ** (n >= 999.95e6 ? 9 : 6)).toFixed(1)} ${n >= 999.95e6 ? 'GB' : 'MB'}`;
  const percent = (n) => `+${n < 9.95 ? n.toFixed(1) : Math.round(n)} %`;
  const shown = await page.locator('.shapes [data-saved]').evaluateAll((all) => all.map((e) => [e.dataset.saved, ...[...e.children].slice(1).map((cell) => cell.textContent)]));
  assert.deepEqual(shown, [['now', mb(savings.live), mb(savings.blobs), ''], ['reuse', mb(savings.live), mb(savings.reuse), ''],
    ...savings.recompute.map((way) => [`recompute-${way.most_percent ?? 'all'}`, mb(way.live), mb(way.reuse), percent(way.extra_percent)])]);
  assert.ok(savings.recompute.length > 1);
  await page.locator('.shapes [data-saved=now]').scrollIntoViewIfNeeded();
  await shotBoth(page, 'shapes-savings');
  const net = await page.evaluate(() => window.weft.app.state.view.net.id);
  const shapes = ['--shape', 'data=8,3,224,224', '--shape', 'label=8:int32'], out = join(process.env.TMPDIR ?? '/tmp', `weft-shapes-${process.pid}.pb`);
  for (const [key, words] of [['reuse', ['pass', 'memory', ...resnet, ...shapes]], ['recompute-1', ['pass', 'recompute', ...resnet, ...shapes, '--most-flops', '1']]]) {
    await page.click(`.shapes [data-saved=${key}]`);
    await page.waitForFunction(() => window.weft.app.state.preview?.document === window.weft.app.state.view.net.document, null, { timeout: 60_000 });
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('.previewbar >> text=Save .pb')]);
    execFileSync(weft, [...words, '-o', out]);
    assert.deepEqual(readFileSync(await download.path()), readFileSync(out), key);
    await page.click('.previewbar >> text=Discard');
    await page.waitForFunction((shown) => window.weft.app.state.view.net.id === shown, net);
    if (key === 'reuse') await page.click('.shapes >> text=What reusing and recomputing would save');
  }
});

test('what was typed is there again after a reload, and goes nowhere', async () => {
  await page.reload();
  await page.waitForFunction(() => window.weft !== undefined);
  await dropAndShow(page, resnet);
  await page.click('.rail [data-tool=shapes]');
  await told(['data=8,3,224,224', 'label=8:int32']);
  assert.equal((await page.inputValue('.shapes [aria-label="Shape of data"]')).replaceAll(' ', ''), '8,3,224,224');
  assert.equal(await page.evaluate(() => (JSON.stringify(localStorage) + location.hash).includes('224')), false);
});

test('a wrong shape is a finding that says what was expected and given, and jumps', async () => {
  await give('data', '8,1,224,224');
  await give('label', '8', 'int32');
  await told(['data=8,1,224,224', 'label=8:int32']);
  const finding = native(['shapes', resnet[0], '--init', resnet[1], '--input', 'data=8,1,224,224', '--input', 'label=8:int32']).findings.find((f) => f.severity === 'error');
  assert.equal(await page.textContent('.shapes .wrong'), `! ${finding.message}`);
  assert.match(finding.message, /expected .*, given/);
  await page.click('.shapes .wrong');
  await page.waitForFunction((op) => window.weft.app.selectedOp() === op, finding.op);
  // What cannot be read at all is said too, and the next right shape ends it.
  await give('data', '8,3,224,?');
  await page.waitForSelector('.shapes .progress .failed');
  await give('data', '8,3,224,224');
  await page.waitForFunction(() => !document.querySelector('.shapes .progress .failed'));
});

test('letters stand for extents: costs are formulas, shapes have them', async () => {
  await give('data', 'N,3,224,224');
  await give('label', 'N', 'int32');
  const answer = await told(['data=N,3,224,224', 'label=N:int32']);
  assert.deepEqual(answer, native(['shapes', resnet[0], '--init', resnet[1], '--input', 'data=N,3,224,224', '--input', 'label=N:int32']));
  assert.equal(await page.textContent('.shapes [data-total=flops]'), `${answer.total.flops} flop`);
  await page.evaluate(() => window.weft.app.selectOp(0, { reveal: true }));
  await page.waitForFunction(() => document.querySelector('.details .shape')?.textContent.includes('N×3×224×224'));
  await shotBoth(page, 'shapes-symbols');
});

test('sums by scope; a click finds what is in one', async () => {
  const files = ['resnet50_train_2gpu.pb', 'resnet50_train_2gpu_init.pb'].map((name) => join(models, name));
  await openShapes(files);
  const rows = await page.locator('.shapes .costtable >> nth=1 >> .costrow:not(.head)').allTextContents();
  const answer = native(['shapes', files[0], '--init', files[1]]);
  assert.deepEqual(await told([]), answer);
  assert.ok(rows.length > 1 && rows.every((row) => answer.scopes.some(({ scope }) => row.startsWith(scope || 'no scope'))), rows.join());
  await page.click('.shapes .costtable >> nth=1 >> .costrow:has-text("gpu_1/")');
  await page.waitForFunction(() => window.weft.app.state.found?.at === 0);
  const inScope = answer.scopes.find(({ scope }) => scope === 'gpu_1/').operators;
  const found = await page.evaluate(() => window.weft.app.state.found.ops.length);
  assert.ok(found >= inScope, `${found} ${inScope}`);
  // What is said of one device's input holds for its like on the others.
  await give('gpu_0/label', '4', 'int32');
  await give('gpu_0/data', '4,3,224,224');
  const inputs = ['gpu_0/label=4:int32', 'gpu_1/label=4:int32', 'gpu_0/data=4,3,224,224', 'gpu_1/data=4,3,224,224'];
  assert.deepEqual(await told(inputs), native(['shapes', files[0], '--init', files[1], ...inputs.flatMap((word) => ['--input', word])]));
});

test('a wrong shape inside a loop is found, and a click goes inside', async () => {
  const file = join(root, 'web/examples/loop.pbtxt');
  await openShapes([file]);
  const inputs = ['x=2,3', 'w=3,5', 'b=3', 'limit=1:int32'];
  for (const input of inputs) await give(...input.split(/[=:]/));
  const { findings } = await told(inputs);
  assert.deepEqual(findings, native(['shapes', file, ...inputs.flatMap((input) => ['--input', input])]).findings);
  const inside = findings.find((f) => f.severity === 'error' && f.net);
  await page.click(`.shapes .wrong:has-text(${JSON.stringify(inside.message)})`);
  await page.waitForFunction(([net, op]) => window.weft.app.path().slice(1).map((n) => `${n.parentOp}.${n.parentArg}`).join('/') === net && window.weft.app.selectedOp() === op, [inside.net, inside.op]);
});

test('shapes inside a recurrent network; other nets keep what was typed', async () => {
  await openShapes(['char_rnn_2.pb', 'char_rnn_2_init.pb'].map((name) => join(models, name)));
  const inputs = { seq: '10,4,33', h0: '1,4,64', c0: '1,4,64', len: '4', h1: '1,4,64', c1: '1,4,64', target: '40' };
  const words = [];
  for (const [name, shape] of Object.entries(inputs)) {
    const type = name === 'len' || name === 'target' ? 'int32' : undefined;
    await give(name, shape, type);
    words.push('--input', `${name}=${shape}${type ? ':int32' : ''}`);
  }
  const answer = await told(words.filter((w) => w !== '--input'));
  assert.deepEqual(answer, native(['shapes', join(models, 'char_rnn_2.pb'), '--init', join(models, 'char_rnn_2_init.pb'), ...words]));
  await page.evaluate(() => window.weft.app.selectOp(1).then(() => window.weft.app.enter(1)));
  await page.waitForFunction(() => window.weft.app.path().length === 2);
  const path = await page.evaluate(() => window.weft.app.path().slice(1).map((n) => `${n.parentOp}.${n.parentArg}`).join('/'));
  const blobs = answer.blobs.filter((b) => b.net === path);
  assert.ok(blobs.length > 10 && blobs.some((b) => b.shape));
  const same = await page.evaluate(async (list) => {
    const { app } = window.weft, net = app.state.view.net.id;
    const wrong = [];
    for (const [value, blob] of list.entries()) {
      const details = await app.engine.ask('describeBlob', net, await app.engine.ask('blobOfValue', net, value));
      const version = details.versions.find((v) => v.value === value);
      if (details.name !== blob.name || version.version !== blob.version || (version.writer < 0 ? null : version.writer) !== blob.op) wrong.push([value, blob.name, details.name]);
    }
    return wrong;
  }, blobs);
  assert.deepEqual(same, []);
});

test('shapes belong to the net that they were typed for, through a reload and in what is made of it', async () => {
  const mlp = (name, wide) => ({ name, bytes: Buffer.from(`name: "${name.replace('.pbtxt', '')}" external_input: "x" external_input: "w" external_input: "b"
op { type: "FC" input: "x" input: "w" input: "b" output: "y" } op { type: "${wide}" input: "y" output: "z" } op { type: "AveragedLoss" input: "z" output: "loss" }`) });
  const [one, other] = [mlp('one.pbtxt', 'Relu'), mlp('other.pbtxt', 'Tanh')];
  const inputs = { x: '4,3', w: '5,3', b: '5' }, words = Object.entries(inputs).map((pair) => pair.join('='));
  await openShapes([one]);
  for (const [name, shape] of Object.entries(inputs)) await give(name, shape);
  await told(words);
  await page.click('.rail [data-tool=gradients]');
  await page.waitForFunction((n) => window.weft.app.state.preview?.words.filter((word) => word === '--input').length === n, words.length);
  await page.click('.rail [data-tool=shapes]');
  await told(words); // of the preview
  await page.waitForFunction(() => window.weft.app.state.view.net.document === window.weft.app.state.preview.document);
  // Another net with blobs of these names knows nothing of them.
  await dropAndShow(page, [other]);
  await told([]);
  for (const name of Object.keys(inputs)) assert.equal(await page.inputValue(`.shapes [aria-label="Shape of ${name}"]`), '');
  await openShapes([other]);
  await openPage(page, server.url);
  await dropAndShow(page, [one]);
  await page.click('.rail [data-tool=shapes]');
  await told(words);
});

test('shapes that fit are those that a run makes; what was given stays', async () => {
  const files = ['dlrm_26.pb', 'dlrm_26_init.pb'].map((name) => join(models, name));
  await openShapes(files);
  await give('dense', '4,13');
  await told(['dense=4,13']);
  await page.click('.shapes .fit');
  const { inputs } = native(['run', files[0], '--init', files[1], '--shape', 'dense=4,13', '--inputs']);
  const { missing_inputs: missing } = native(['shapes', files[0], '--init', files[1]]);
  const fitting = new Map(inputs.filter(({ shape }) => shape).map(({ blob, shape, type }) => [blob, `${blob}=${shape}${type === 'float' ? '' : ':' + type}`]));
  assert.ok(missing.length > 50 && missing.every((blob) => fitting.has(blob)));
  await page.waitForFunction((n) => window.weft.app.measures.asked().filter((word) => word === '--input').length === n, missing.length);
  const asked = await page.evaluate(() => window.weft.app.measures.asked().filter((word) => word.includes('=')));
  assert.deepEqual(new Set(asked), new Set(missing.map((blob) => fitting.get(blob))));
  assert.ok(asked.includes('dense=4,13') && asked.some((word) => word.endsWith(':int32')), asked.join());
  assert.equal(await page.evaluate(() => window.weft.app.measures.told().findings.filter((f) => f.severity === 'error').length), 0);
  await shotBoth(page, 'shapes-fit');
});

test('of very many inputs the first few are asked for, so that results are in sight; the rest unfolds', async () => {
  const many = Array.from({ length: 200 }, (_, i) => `w${i}`);
  const bytes = Buffer.from(`name: "many" ${['x', ...many].map((name) => `external_input: "${name}" `).join('')}
${many.map((name, i) => `op { type: "Add" input: "${i ? 'y' + i : 'x'}" input: "${name}" output: "y${i + 1}" }`).join('\n')}`);
  await openShapes([{ name: 'many.pbtxt', bytes }]);
  const rows = page.locator('.shapes .input'), more = page.locator('.shapes .more');
  assert.deepEqual([await rows.count(), await more.textContent()], [6, '195 more']);
  const inSight = () => page.evaluate(() => document.querySelector('.shapes [data-live]').getBoundingClientRect().bottom < innerHeight);
  assert.equal(await inSight(), true);
  await shotBoth(page, 'shapes-many');
  await more.click();
  assert.deepEqual([await rows.count(), await more.textContent()], [201, 'Show fewer']);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Shape of w5');
  await give('w150', '3');
  await told(['w150=3']);
  await more.click();
  assert.deepEqual([await rows.count(), await inSight()], [6, true]);
  await more.click();
  assert.equal(await page.inputValue('.shapes [aria-label="Shape of w150"]'), '3');
  await more.click();
  // Once most have a shape, those that have none come first.
  await page.click('.shapes .fit');
  await page.waitForFunction(() => window.weft.app.measures.asked().length > 100);
  await page.evaluate(() => ['w9', 'w160'].forEach((name) => window.weft.app.measures.give(window.weft.app.measures.net(), name, { shape: '', type: 'float' })));
  await openPage(page, server.url);
  await dropAndShow(page, [{ name: 'many.pbtxt', bytes }]);
  await page.click('.rail [data-tool=shapes]');
  await page.waitForFunction(() => document.querySelectorAll('.shapes .input').length > 0);
  assert.deepEqual((await rows.allTextContents()).slice(0, 3).map((text) => text.replace(/float.*/, '')), ['w9', 'w160', 'x']);
});

test('a shape that is typed for one device is that of the others, rows or not', async () => {
  await openShapes([join(models, 'resnet50_train_8gpu.pb')]);
  assert.equal(await page.locator('.shapes .input').count(), 6);
  await give('gpu_0/data', '4,3,224,224');
  await page.waitForFunction(() => window.weft.app.measures.asked().includes('gpu_7/data=4,3,224,224'));
  await shotBoth(page, 'shapes-many-devices');
});
