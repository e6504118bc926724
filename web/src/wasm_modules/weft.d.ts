// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0

import type { ModuleOptions, WeftModule } from '../../../wasm/weft.d.ts';
export default function createWeft(options: ModuleOptions): Promise<WeftModule>;
