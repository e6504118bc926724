// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Find, whole: words about shapes, bytes and operations beside the engine's, and nets inside operators.

import { test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { assert, dropAndShow, models, openPage, root, selection, shotBoth, weft, whenSelected, withBrowser } from './support.mjs';

let server, page;
withBrowser((made) => ({ server, page } = made));

const resnet = ['resnet50_train.pb', 'resnet50_train_init.pb'].map((name) => join(models, name));
const found = async (query) => {
  await page.fill('.find input', query);
  await page.waitForFunction((q) => window.weft.app.state.found?.query === q && !window.weft.app.state.found.running, query);
  return page.evaluate(() => {
    const { ops, error } = window.weft.app.state.found;
    return error || [...ops];
  });
};

test('shape:, bytes and flops find what the command’s JSON says, together with other words', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, resnet);
  // Before shapes are given, it says so.
  assert.match(await found('bytes>1e12'), /give the inputs theirs/);
  await page.click('.rail [data-tool=shapes]');
  await page.fill('.shapes [aria-label="Shape of data"]', '8,3,224,224');
  await page.fill('.shapes [aria-label="Shape of label"]', '8');
  await page.selectOption('.shapes [aria-label="Type of label"]', 'int32');
  await page.waitForFunction(() => window.weft.app.measures.told()?.whole);
  const told = JSON.parse(spawnSync(weft, ['shapes', resnet[0], '--init', resnet[1], '--input', 'data=8,3,224,224', '--input', 'label=8:int32', '--json'], { maxBuffer: 1 << 28 }).stdout);
  const writing = (test) => [...new Set(told.blobs.filter((b) => b.op !== null && !b.net && test(b)).map((b) => b.op))].sort((a, b) => a - b);
  const type = (name) => (op) => told.operators[op].type === name;
  assert.deepEqual(await found('shape:[N,64,*,*]'), writing(({ shape }) => shape?.length === 4 && shape[1] === 64));
  assert.deepEqual(await found('type:Conv shape:[8,64,56,56]'), writing(({ shape }) => String(shape) === '8,64,56,56').filter((op) => told.operators[op].type === 'Conv'));
  assert.deepEqual(await found('shape:[...,7,7]'), writing(({ shape }) => shape?.length >= 2 && shape.at(-1) === 7 && shape.at(-2) === 7));
  assert.deepEqual(await found('shape:[8,C,n,n]'), writing(({ shape }) => shape?.length === 4 && shape[0] === 8 && shape[2] === shape[3]));
  assert.deepEqual(await found('bytes>1e7'), writing((b) => b.bytes > 1e7));
  assert.deepEqual(await found('bytes>=25.690112M type:Relu'), writing((b) => b.bytes >= 25690112).filter(type('Relu')));
  assert.deepEqual(await found('flops>1e9 -type:/Gradient$/'), told.operators.filter((op) => op.flops > 1e9 && !op.type.includes('Gradient')).map((op) => op.op));
  assert.deepEqual(await found('-flops<1e9'), told.operators.filter((op) => !(op.flops < 1e9)).map((op) => op.op));
  await page.press('.find input', 'Enter');
  await whenSelected(page, told.operators.find((op) => op.flops >= 1e9).op);
  assert.equal(await page.evaluate(() => window.weft.app.state.found.at), 0);
});

test('types come before names of blobs, in the list and when stepping', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, resnet);
  const ops = await found('conv kernel=3'), types = await page.evaluate((list) => window.weft.app.engine.ask('opLabels', window.weft.app.state.view.net.id, list).then(({ types: all }) => all), ops);
  const rest = types.findIndex((type) => !type.startsWith('Conv'));
  assert.ok(rest > 0 && types.slice(rest).every((type) => !type.includes('Conv')), String(types));
  assert.ok(types.includes('MaxPool') && ops[rest] < ops[0], 'what comes first in the net is found by a blob alone');
  assert.deepEqual(ops.slice(0, rest), [...ops.slice(0, rest)].sort((a, b) => a - b));
  await page.press('.find input', 'Enter');
  await whenSelected(page, ops[0]);
  assert.equal((await selection(page)).type, 'Conv');
  await page.click('.tabs [data-tab=found]');
  await shotBoth(page, 'find-by-type');
});

test('what finds nothing says how one asks for what it looks like; an argument may follow a colon', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, resnet);
  await page.click('.tabs [data-tab=found]');
  const line = () => page.evaluate(() => document.querySelector('.found .nothing p').textContent);
  for (const [query, says] of [
    ['7x7', 'Nothing found. A window is asked for as kernel=7, a shape as shape:[...,7,7].'],
    ['conv 7x7', 'Nothing found. A window is asked for as conv kernel=7, a shape as conv shape:[...,7,7].'],
    ['kernel:7x7', 'Nothing found. A window is asked for as kernel=7, a shape as shape:[...,7,7].'],
    ['[64,3,7,7]', 'Nothing found. A shape is asked for as shape:[64,3,7,7], its end as shape:[...,64,3,7,7].'],
    ['type=Conv', 'Nothing found. This is asked with a colon: type:Conv.'],
    ['kernel:>3', 'Nothing found. A comparison needs no colon: kernel>3.'],
    ['conv* kernel=7', 'Nothing found. A part of a word needs no star: conv kernel=7.'],
    ['kernel 7', 'Nothing found. A value is asked for as kernel=7.'],
    ['nosuchthing', 'Nothing found. '],
  ]) {
    assert.deepEqual(await found(query), [], query);
    assert.equal(await line(), says);
    if (query === '7x7') await shotBoth(page, 'find-advice');
  }
  await found('7x7');
  await page.click('.found button:text-is("kernel=7")');
  await page.waitForFunction(() => window.weft.app.state.found?.query === 'kernel=7' && window.weft.app.state.found.ops.length > 0);
  assert.deepEqual(await found('kernel:7'), await found('kernel=7'));
});

test('what stands inside loops and branches is found with its place; going there keeps the query', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [join(root, 'web/examples/loop.pbtxt')]);
  const outer = await found('type:Copy');
  await page.waitForFunction(() => window.weft.app.state.found.elsewhere.length > 0);
  const inside = await page.evaluate(() => window.weft.app.state.found.elsewhere.map(({ place, ops }) => [place, [...ops]]));
  assert.ok(inside.every(([place, ops]) => /^\d+ \w+_net/.test(place) && ops.length > 0), JSON.stringify(inside));
  await page.press('.find input', 'Escape');
  await page.keyboard.press('Escape');
  await page.fill('.find input', 'type:Copy');
  await page.waitForFunction(() => window.weft.app.state.found?.elsewhere.length > 0);
  await page.click('.tabs [data-tab=found]');
  await shotBoth(page, 'find-nested');
  const row = page.locator('.found .line:has-text(" in ")').first();
  await row.click();
  await page.waitForFunction(() => window.weft.app.path().length > 1 && window.weft.app.state.selection?.what === 'op');
  const state = await page.evaluate(() => ({ query: window.weft.app.state.found.query, at: window.weft.app.state.found.at, type: window.weft.app.state.selection.details.type,
    place: window.weft.app.path().slice(1).map((n) => `${n.parentOp} ${n.parentArg}`).join(' › ') }));
  assert.deepEqual(state, { query: 'type:Copy', at: 0, type: 'Copy', place: inside[0][0] });
  assert.equal(await page.inputValue('.find input'), 'type:Copy');
  // From inside, what is outside is elsewhere.
  const all = await page.evaluate(() => window.weft.app.state.found.elsewhere.map(({ place }) => place));
  assert.equal(all.length, inside.length - 1 + (outer.length > 0 ? 1 : 0));
});

test('the steps of recurrent networks are searched', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, ['char_rnn_2.pb', 'char_rnn_2_init.pb'].map((name) => join(models, name)));
  await found('type:LSTMUnit');
  await page.waitForFunction(() => window.weft.app.state.found.elsewhere.length >= 2);
  const places = await page.evaluate(() => window.weft.app.state.found.elsewhere.map(({ place }) => place));
  assert.ok(places.includes('1 step_net'), String(places));
  // The beginning of a type is no type; what finds it is offered.
  assert.deepEqual(await found('type:Recurrent'), []);
  await page.click('[data-tab=found]');
  await shotBoth(page, 'find-part-of-type');
  await page.click('.found button:text-is("type:/Recurrent/")');
  await page.waitForFunction(() => window.weft.app.state.found?.query === 'type:/Recurrent/' && window.weft.app.state.found.ops.length === 4);
});
