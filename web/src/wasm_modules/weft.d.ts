import type { ModuleOptions, WeftModule } from '../../../wasm/weft.d.ts';
export default function createWeft(options: ModuleOptions): Promise<WeftModule>;
