// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The command palette and the page of keys. Both read the list of commands.

import { type Command, type Commands, keyLabel } from './commands.ts';
import { h, icon } from './dom.ts';
import { signs } from './signs.ts';

export function openPalette(commands: Commands): void {
  const input = h('input', { placeholder: 'What to do', 'aria-label': 'Command', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'palette-list' });
  const list = h('ul', { id: 'palette-list', role: 'listbox' });
  const dialog = h('dialog.palette', { 'aria-label': 'Commands' }, input, list);
  let shown: Command[] = [];
  let at = 0;
  const close = () => dialog.close();
  const run = (command: Command | undefined) => {
    close();
    command?.run();
  };
  const draw = () => {
    list.replaceChildren(...shown.map((command, i) =>
      h('li', { role: 'option', id: 'palette-' + i, 'aria-selected': i === at ? 'true' : 'false', onclick: () => run(command), onpointermove: () => { if (at !== i) { at = i; draw(); } } },
        h('span.group', command.group), h('span', command.name), ...(command.keys ?? []).slice(0, 2).map((key) => h('kbd', keyLabel(key))))));
    input.setAttribute('aria-activedescendant', 'palette-' + at);
    list.children[at]?.scrollIntoView({ block: 'nearest' });
  };
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = commands.available().filter((c) => words.every((word) => `${c.group} ${c.name}`.toLowerCase().includes(word)));
    at = 0;
    draw();
  };
  input.addEventListener('input', filter);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') at = Math.min(at + 1, shown.length - 1);
    else if (event.key === 'ArrowUp') at = Math.max(at - 1, 0);
    else if (event.key === 'Enter') return run(shown[at]);
    else return;
    event.preventDefault();
    draw();
  });
  show(dialog);
  filter();
  input.focus();
}

/** How the pointer is used: the keys come from the commands. */
const pointer: [string, string][] = [
  ['Drag', 'Move the view'], ['Wheel', 'Scroll'], ['Ctrl + wheel, pinch', 'Zoom at the pointer'], ['Ctrl + drag', 'Zoom to a rectangle'],
  ['Click', 'Select'], ['Double click', 'Expand a scope, open nested nets in place'], ['Alt + double click', 'Expand all of a scope, enter a nested net'],
];

export function openHelp(commands: Commands): void {
  const groups = new Map<string, Command[]>();
  for (const command of commands.list) {
    if (command.keys?.length) groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
  }
  const row = (keys: Node[], what: string): Node[] => [h('dd', what), h('dt', ...keys)];
  const dialog = h('dialog.help', { 'aria-label': 'Keys' },
    h('h2', 'Keys'),
    h('div.cols',
      ...[...groups].map(([group, list]) => h('section', h('div.label', group), h('dl', ...list.flatMap((c) => row((c.keys ?? []).map((k) => h('kbd', keyLabel(k))), c.name))))),
      h('section', h('div.label', 'Pointer'), h('dl', ...pointer.flatMap(([keys, what]) => row([h('kbd', keys)], what)))),
      h('section.signs', h('div.label', 'Signs on boxes'), h('dl', ...signs.flatMap(({ sign, what }) => row([h('b', sign)], what))))));
  show(dialog);
}

function show(dialog: HTMLDialogElement): void {
  document.querySelector('dialog[open]')?.remove();
  dialog.append(h('button.close', { 'aria-label': 'Close', title: 'Close  Escape', onclick: () => dialog.close() }, icon('M4 4l8 8M12 4l-8 8')));
  document.body.append(dialog);
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.showModal();
}
