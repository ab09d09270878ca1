import { Type } from '../../../kernel/schema.ts'
import { response } from '../../../kernel/wire.ts'

export const ConfigurationResponse = response('ConfigurationResponse', {
  config: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    description: 'Settings with the keys of config.example.yaml.',
    additionalProperties: true
  })
})
