import { type Static, Type } from '../../../kernel/schema.ts'
import { nullable, response } from '../../../kernel/wire.ts'

const Names = Type.Array(Type.String())
const State = Type.Enum(['up', 'down'])

const ModulePartResponse = response('ModulePartResponse', {
  name: Type.String(),
  enabled: Type.Boolean(),
  base_paths: Names
})
const ModuleResponse = response('ModuleResponse', {
  name: Type.String(),
  description: Type.String(),
  enabled: Type.Boolean(),
  health: Type.Enum(['up', 'degraded', 'off'], {
    description: 'degraded: it runs, and something of it is given up or waits for too long.'
  }),
  reasons: Type.Array(Type.String(), { description: 'Why it is not up; empty when it is.' }),
  requires: Names,
  uses: Type.Array(Type.String(), { description: 'Modules that it does more with, and does without.' }),
  parts: Type.Array(ModulePartResponse, { description: 'Parts that are switched off by themselves.' }),
  base_paths: Names
})
export const ModulesResponse = response('ModulesResponse', {
  items: Type.Array(ModuleResponse),
  database: State,
  cache: State,
  redis: nullable({
    ...State,
    description: 'down: each process caches in its own memory; null: no Redis is configured.'
  })
})
export type ModulesResponse = Static<typeof ModulesResponse>
