// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Finishes a build: copies the modules, writes the page's policy, makes weft.html (everything in one file), and fails
// when the page outgrows its budget.
//
//   node tools/pack.mjs                        after `vite build`
//   node tools/pack.mjs --net FILE... OUT.html weft.html with nets inside, from a finished build

import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import subsetFont from 'subset-font';

const root = resolve(import.meta.dirname, '..');
const out = process.env.WEFT_WEB ?? resolve(root, '../build/web');
const wasm = process.env.WEFT_WASM ?? resolve(root, '../build/wasm/wasm');
// Gzipped bytes. Raise one only in a commit that says why. The command is loaded when it is first asked for, and so
// counted apart.
const budget = { page: 600 * 1024, modules: 450 * 1024, command: 1536 * 1024 };
const command = ['run_worker.js', 'run.wasm'];

const read = (name) => readFileSync(join(out, name));
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const packed = (bytes) => gzipSync(bytes, { level: 9 }).toString('base64');
const policy = (rules) => `<meta http-equiv="Content-Security-Policy" content="${Object.entries(rules).map(([k, v]) => `${k} ${v}`).join('; ')}" />`;
const escapeHtml = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

function netBlocks(files) {
  return files.map((file) => `<script type="application/octet-stream" data-net="${escapeHtml(basename(file))}">${packed(readFileSync(file))}</script>\n`).join('');
}

if (process.argv[2] === '--net') {
  const files = process.argv.slice(3, -1), target = process.argv.at(-1);
  if (files.length === 0) throw new Error('usage: pack.mjs --net FILE... OUT.html');
  writeFileSync(target, read('weft.html').toString().replace(/<!--nets-->[^]*?<!--\/nets-->/, () => `<!--nets-->${netBlocks(files)}<!--/nets-->`));
  process.exit(0);
}

for (const name of ['weft.wasm', 'render.wasm', 'run.wasm']) {
  if (existsSync(join(wasm, name))) copyFileSync(join(wasm, name), join(out, name));
}
// Of each font the letters and features that the page sets; others' letters come from the reader's system.
const letters = String.fromCharCode(...Array.from({ length: 0xe0 }, (_, i) => i + 0x20)).replace(/[\x7f-\x9f]/g, '') + '–—‘’“”…›←→↑↓−≤≥▲▸▾';
for (const name of readdirSync(out).filter((name) => name.endsWith('.woff2'))) {
  const keepFeatures = name.startsWith('inter') ? ['kern', 'ccmp', 'mark', 'calt', 'tnum', 'ss03', 'cv05'] : ['ccmp', 'mark'];
  writeFileSync(join(out, name), await subsetFont(read(name), letters, { targetFormat: 'woff2', keepFeatures }));
}
const page = read('index.html').toString().replace(/<meta http-equiv="Content-Security-Policy"[^>]*>\s*/, '');
const main = read('main.js').toString();
let css = read('main.css').toString();

// The hosted page: its own files, and what #url= names.
writeFileSync(join(out, 'index.html'), page.replace('<meta charset="utf-8" />', (charset) => charset + '\n    ' + policy({
  'default-src': "'none'", 'script-src': "'self' 'wasm-unsafe-eval'", 'style-src': "'self'", 'font-src': "'self'",
  'img-src': "'self' data: blob:", 'connect-src': "'self' https: http:", 'worker-src': "'self'", 'base-uri': "'none'",
  'form-action': "'none'",
})));

// The single file: nothing may be requested at all.
css = css.replace(/url\((["']?)\.?\/?([^)"']+\.woff2)\1\)/g, (_, quote, name) => `url(data:font/woff2;base64,${read(name).toString('base64')})`);
const script = main.replaceAll('</script', '<\\/script');
const single = page
  .replace('<meta charset="utf-8" />', (charset) => charset + '\n    ' + policy({
    'default-src': "'none'", 'script-src': `${hash(script)} 'wasm-unsafe-eval' blob:`, 'style-src': hash(css), 'font-src': 'data:',
    'img-src': 'data: blob:', 'connect-src': "'none'", 'worker-src': 'blob:', 'base-uri': "'none'", 'form-action': "'none'",
  }))
  .replace(/\s*<link rel="stylesheet"[^>]*>/, () => `\n<style>${css}</style>`)
  .replace(/\s*<script type="module"[^>]*src="[^"]*main\.js"[^>]*><\/script>/, '')
  .replace('</body>', () => ['worker.js', 'weft.wasm', 'render.wasm', ...command].map((name) => `<script type="application/octet-stream" id="file:${name}">${packed(read(name))}</script>\n`).join('')
    + `<!--nets--><!--/nets--><script type="module">${script}</script>\n</body>`);
writeFileSync(join(out, 'weft.html'), single);

const size = (name) => gzipSync(read(name), { level: 9 }).length;
const sum = (names) => names.reduce((total, name) => total + size(name), 0);
const names = readdirSync(out).filter((name) => name !== 'weft.html' && !command.includes(name));
const sizes = { page: sum(names), modules: sum(['weft.wasm', 'render.wasm']), command: sum(command) };
const kb = (n) => `${(n / 1024).toFixed(1)} KB`;
console.log(`page ${kb(sizes.page)} gzipped (${names.map((name) => `${name} ${kb(size(name))}`).join(', ')}), modules ${kb(sizes.modules)}, command ${kb(sizes.command)}, weft.html ${kb(single.length)}`);
const over = Object.keys(budget).filter((what) => sizes[what] > budget[what]);
for (const what of over) console.error(`over budget: ${what} may have ${kb(budget[what])}`);
if (over.length > 0) process.exit(1);
