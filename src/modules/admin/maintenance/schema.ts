import { type Static, Type } from '../../../kernel/schema.ts'
import { line, nullable, request, response, Time, Version } from '../../../kernel/wire.ts'

export const SetMaintenanceRequest = request('SetMaintenanceRequest', {
  enabled: Type.Boolean(),
  message: Type.Optional(nullable(line(500, 'What shoppers are told.'))),
  until: Type.Optional(
    nullable(
      Type.String({
        format: 'date-time',
        description:
          'When it ends by itself, which they are told. Without it, it ends when it is switched off.'
      })
    )
  )
})
export type SetMaintenanceRequest = Static<typeof SetMaintenanceRequest>

export const MaintenanceResponse = response('MaintenanceResponse', {
  enabled: Type.Boolean(),
  message: nullable(Type.String()),
  until: nullable(Time),
  version: Version,
  updated_at: Time
})
export type MaintenanceResponse = Static<typeof MaintenanceResponse>
