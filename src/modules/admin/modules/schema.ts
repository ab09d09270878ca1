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
    description:
      'degraded: it runs, but some of its events or jobs failed permanently or wait too long. off: it is disabled.'
  }),
  reasons: Type.Array(Type.String(), { description: 'Why it is not up. Empty when it is up.' }),
  requires: Type.Array(Type.String(), { description: 'Modules without which it is off.' }),
  uses: Type.Array(Type.String(), { description: 'Modules that it uses when they are enabled.' }),
  ports: Type.Array(Type.String(), { description: 'Names of its ports, which other modules provide.' }),
  provides: Type.Array(Type.String(), { description: 'Names of the ports that it can provide.' }),
  parts: Type.Array(ModulePartResponse, { description: 'Parts that can be disabled separately.' }),
  base_paths: Names
})
export const ModulesResponse = response('ModulesResponse', {
  items: Type.Array(ModuleResponse),
  database: State,
  cache: State,
  redis: nullable({
    ...State,
    description: 'down: each process caches in its own memory. Null: Redis is not configured.'
  })
})
export type ModulesResponse = Static<typeof ModulesResponse>
