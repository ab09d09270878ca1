import { type Static, Type } from '../../../kernel/schema.ts'
import { line, nullable, request, response, Time, Version } from '../../../kernel/wire.ts'

export const SetMaintenanceRequest = request('SetMaintenanceRequest', {
  enabled: Type.Boolean({ description: 'True: customers and guests can read but not write.' }),
  message: Type.Optional(nullable(line(500, 'Message for customers and guests, returned with the error.'))),
  until: Type.Optional(
    nullable(
      Type.String({
        format: 'date-time',
        description:
          'Time when it ends automatically, returned with the error. Default: it ends when it is disabled.'
      })
    )
  )
})
export type SetMaintenanceRequest = Static<typeof SetMaintenanceRequest>

export const MaintenanceResponse = response('MaintenanceResponse', {
  enabled: Type.Boolean({ description: 'True: maintenance mode is active now.' }),
  message: nullable(Type.String()),
  until: nullable(Time),
  version: Version,
  updated_at: Time
})
export type MaintenanceResponse = Static<typeof MaintenanceResponse>
