// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line itself, over the files that are open.

import type { App } from '../app.ts';
import { bytes, h } from '../dom.ts';
import { saveFile } from '../files.ts';
import { Progress, type Tool } from './tool.ts';

/** Splits as a shell does: blanks part, quotes keep together. Null when a quote does not end. */
export function splitWords(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null, quote = '';
  for (const c of line) {
    if (quote) c === quote ? (quote = '') : (word += c);
    else if (c === "'" || c === '"') [quote, word] = [c, word ?? ''];
    else if (/\s/.test(c)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + c;
  }
  if (quote) return null;
  return word === null ? words : [...words, word];
}

function make(app: App) {
  const input = h('input.mono', { 'aria-label': 'Command line', spellcheck: false, autocomplete: 'off', placeholder: 'print NET --ssa' });
  const output = h('pre.output', { tabIndex: 0, 'aria-label': 'Output' });
  const files = h('p.hint');
  const progress = new Progress();
  const past: string[] = [];
  let at = 0;
  const write = (kind: string, text: string) => text && output.append(h('span.' + kind, text.endsWith('\n') ? text : text + '\n'));
  const run = async () => {
    const line = input.value.trim();
    const words = splitWords(line.replace(/^weft\s+/, ''));
    if (!line) return;
    if (!words) return progress.fail('a quote does not end');
    past.push(line);
    at = past.length;
    input.value = '';
    write('asked', `$ weft ${line.replace(/^weft\s+/, '')}`);
    const ran = await progress.follow('Running', app.workshop.command.run(words, app.workshop.files()));
    if (!ran) return;
    write('out', ran.out);
    write('err', ran.err);
    for (const file of ran.files) {
      const blob = new Blob([file.bytes as Uint8Array<ArrayBuffer>]);
      output.append(h('span.made', `${file.name}  ${bytes(blob.size)}  `, h('button.quiet', { onclick: () => saveFile(file.name.split('/').at(-1) ?? file.name, blob) }, 'Save'), ' ',
        h('button.quiet', { onclick: () => void app.open([{ name: file.name, file: new File([blob], file.name) }]) }, 'Open'), '\n'));
    }
    output.scrollTo({ top: output.scrollHeight });
  };
  input.addEventListener('keydown', (event) => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
    if (event.key === 'Enter') void run();
    if (!by) return;
    event.preventDefault();
    at = Math.max(0, Math.min(past.length, at + by));
    input.value = past[at] ?? '';
  });
  return {
    element: h('div.console', h('label.prompt', h('span', 'weft'), input), files, progress.element, output),
    update: () => files.replaceChildren('Files: ', ...app.workshop.files().flatMap(({ name }, i) => [i > 0 ? ', ' : '', h('code', name)]), '. Try ', h('code', '--help'), '.'),
  };
}

export const consoleTool: Tool = {
  id: 'console', title: 'Console', what: 'The weft command, over the files that are open', icon: 'M2 3h12v10H2zM4.5 6l2 2-2 2M8.5 10h3', make,
};
