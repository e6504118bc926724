// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is written by hand agrees with what it speaks of: the modules with their bindings, the README with the tests.

import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const read = (path) => readFileSync(join(root, path), 'utf8');
const declared = (name) => {
  const body = new RegExp(`export interface ${name} \\{([^]*?)\\n\\}`).exec(read('wasm/weft.d.ts'))[1];
  return [...body.matchAll(/^ {2}(\w+)\(/gm)].map((m) => m[1]).sort();
};
const names = (path, pattern) => [...read(path).matchAll(pattern)].map((m) => m[1]).sort();

test('every function of the session is described, and no other', () => {
  assert.deepEqual(declared('Session'), [...names('wasm/weft_bindings.cc', /\.function\("(\w+)"/g), 'delete'].sort());
});

test('every function of the renderer is described, and no other', () => {
  const ours = declared('RenderModule').filter((name) => name.startsWith('_weft'));
  assert.deepEqual(ours, names('wasm/render_bindings.cc', /EMSCRIPTEN_KEEPALIVE [\w:* ]*?\b(weft\w+)\(/g).map((name) => '_' + name));
});

test('every field of the answers is described', () => {
  const described = read('wasm/weft.d.ts');
  for (const field of names('wasm/values.cc', /out\.set\("(\w+)"/g)) assert.match(described, new RegExp(`\\b${field}\\b`), field);
});

test('the themes have the renderer\'s colours in its order', () => {
  const list = /colorNames = \[([^]*?)\]/.exec(read('web/src/theme.ts'))[1];
  const page = [...list.matchAll(/'(\w+)'/g)].map((m) => m[1]);
  const renderer = [.../enum class ThemeColor[^{]*\{([^}]*)\}/.exec(read('inspector/render/theme.h'))[1].matchAll(/k(\w+)/g)].map((m) => m[1][0].toLowerCase() + m[1].slice(1));
  assert.deepEqual(page.map((n) => (n === 'plain' ? 'collective' : n)), renderer);
});

test('listing pieces have the classes that the printer gives', () => {
  const printer = [.../enum class TextClass[^{]*\{([^}]*)\}/.exec(read('core/ssa/print.h'))[1].matchAll(/^ *k([A-Z]\w+)/gm)].map((m) => m[1]);
  const page = [.../const classes = \[([^\]]*)\]/.exec(read('web/src/listing.ts'))[1].matchAll(/'([^']*)'/g)];
  assert.equal(page.length, printer.length);
});

test('each ask in the README names a test that is there', () => {
  const rows = [...read('web/README.md').matchAll(/^\| .+ \| `(\w+\.test\.mjs)` (.+) \|$/gm)];
  assert.ok(rows.length >= 10);
  for (const [, file, name] of rows) assert.ok(read(`tests/web/${file}`).includes(`test('${name}'`), `${file}: ${name}`);
});
