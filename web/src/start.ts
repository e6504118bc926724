// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The empty page: what to drop, and three nets to begin with.

import { h, icon } from './dom.ts';
import { type Example, examples } from './examples.ts';

export function startPage(open: () => void, openExample: (example: Example) => void): HTMLElement {
  return h('div.start',
    h('div',
      h('h1', 'Read a Caffe2 net'),
      h('p', 'Every operator, every version of every blob, and the backward pass beside the forward one. Files are read in this page and go nowhere.'),
      h('div.dropzone',
        h('div', h('b', 'Drop files here'), h('span.what', 'NetDef or PlanDef, .pb or .pbtxt. Drop an init net with its net and they pair.')),
        h('button.open', { onclick: open }, 'Open files')),
      h('h2.label', 'Or begin with one of ours'),
      h('ul.examples', ...examples.map((example) =>
        h('li', h('button', { onclick: () => openExample(example) }, h('b', example.title), h('span.what', example.what), icon('M6 3l5 5-5 5'))))),
      h('footer', h('span', h('kbd', '?'), ' keys'), h('span', 'What a file holds is told from its content, not from its name'))));
}
