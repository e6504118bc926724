// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0

import type { RunModule, RunOptions } from '../../../wasm/run.d.ts';
export default function createRun(options: RunOptions): Promise<RunModule>;
