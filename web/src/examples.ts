// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The nets that the empty page offers.

import lenet from '../examples/lenet_train.pbtxt?raw';
import lenetInit from '../examples/lenet_train_init.pbtxt?raw';
import loop from '../examples/loop.pbtxt?raw';
import overwritten from '../examples/overwritten.pbtxt?raw';

export interface Example {
  title: string;
  what: string;
  files: { name: string; text: string }[];
}

/**
 * A net for the engine to practise on: LeNet eight times over two devices, about as large as nets that people bring, with
 * gradients and updates. What is run often enough is compiled well before the first real net comes.
 */
export function rehearsal(): Uint8Array {
  const ops = lenet.match(/^op \{[^]*?^\}$/gm) ?? [];
  const backward = ops.findIndex((op) => op.includes('"ConstantFill"'));
  const copies = Array.from({ length: 8 }, (_, k) => `gpu_${k >> 2}/block${k & 3}_`);
  const all = [ops.slice(0, backward), ops.slice(backward)].flatMap((part) => copies.flatMap((prefix) => part.map((op) => op.replace(/(input|output): "/g, `$&${prefix}`))));
  return new TextEncoder().encode(all.join('\n'));
}

export const examples: Example[] = [
  {
    title: 'LeNet, trained',
    what: 'forward, backward and update side by side; its init net beside it',
    files: [
      { name: 'lenet_train.pbtxt', text: lenet },
      { name: 'lenet_train_init.pbtxt', text: lenetInit },
    ],
  },
  {
    title: 'Overwritten',
    what: 'a blob written three times: which reader sees which version',
    files: [{ name: 'overwritten.pbtxt', text: overwritten }],
  },
  {
    title: 'A loop',
    what: 'While around If: nets inside operators',
    files: [{ name: 'loop.pbtxt', text: loop }],
  },
];
