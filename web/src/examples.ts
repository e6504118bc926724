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
