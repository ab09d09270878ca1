import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import {
  type AcceptedFields,
  acceptedFieldsOf,
  findResourcesIn,
  type ShownFields,
  type VisitResources,
  withAcceptedFields,
  withShownFields
} from '../../kernel/resource-schemas.ts'
import type { ReadableField, ReadResourceFields } from '../../kernel/resources.ts'
import type { Transaction } from '../../platform/postgres/database.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Writes the fields of other modules in the transaction of the request; `null` when it contains none. */
    fieldWrites: WriteFields | null
  }
}
/** Writes fields of the object that the request creates or updates. `createdId`: the id of what it creates. */
type WriteFields = (tx: Transaction, createdId: string) => Promise<void>

type Parts = Pick<RouteOptions, 'schema' | 'preHandler' | 'preSerialization'>
type FieldsOf = ReadResourceFields<Transaction>
type Field = ReadableField<Transaction>

/**
 * Adds the fields of other modules to a route: to its schemas, to responses that are objects, and to the write of a request.
 * Routes without such fields stay as they are. A handler that sends text fills it itself.
 */
export function withResourceFields<P extends Parts>(parts: P, fieldsOf: FieldsOf): P {
  return withFieldsOfRequest(withFieldsOfResponses(parts, fieldsOf), fieldsOf)
}

function withFieldsOfResponses<P extends Parts>(parts: P, fieldsOf: FieldsOf): P {
  const shownBy = ({ resource, audience }: ShownFields) => fieldsOf(resource, audience)
  const responses = Object.entries((parts.schema?.response ?? {}) as Record<string, object>)
  const visits = new Map(
    responses.flatMap(([status, schema]) => {
      const visit = findResourcesIn(schema, shown => shownBy(shown).length > 0)
      return visit === undefined ? [] : [[Number(status), visit] as const]
    })
  )
  if (visits.size === 0) return parts
  const response = Object.fromEntries(
    responses.map(([status, schema]) => [status, withShownFields(schema, shownBy)])
  )
  const fill = async (_request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    await fillFields(payload, visits.get(reply.statusCode), shownBy)
    return payload
  }
  return {
    ...parts,
    schema: { ...parts.schema, response },
    preSerialization: [...[parts.preSerialization ?? []].flat(), fill]
  }
}

/** Loads each field once for all objects in the response, and adds the values to them. */
async function fillFields(
  payload: unknown,
  visit: VisitResources | undefined,
  shownBy: (shown: ShownFields) => readonly Field[]
): Promise<void> {
  const objectsOf = new Map<Field, Record<string, unknown>[]>()
  visit?.(payload, (shown, object) => {
    for (const field of shownBy(shown)) {
      const objects = objectsOf.get(field)
      if (objects === undefined) objectsOf.set(field, [object])
      else objects.push(object)
    }
  })
  await Promise.all(
    [...objectsOf].map(async ([field, objects]) => {
      const ids = [...new Set(objects.map(({ id }) => String(id)))]
      const values = (await field.load(ids)) ?? []
      const valueById = new Map(
        ids.map((id, index) => [id, JSON.parse(field.stringify(values[index] ?? null))])
      )
      for (const object of objects) object[field.field] = valueById.get(String(object.id))
    })
  )
}

function withFieldsOfRequest<P extends Parts>(parts: P, fieldsOf: FieldsOf): P {
  const accepted = acceptedFieldsOf(parts.schema?.body)
  if (accepted === undefined) return parts
  const written = fieldsOf(accepted.resource, 'any').filter(({ write }) => write !== undefined)
  // A field for several audiences is written once.
  const writable = [...new Map(written.map(each => [each.field, each])).values()]
  if (writable.length === 0) return parts
  const keepFields = (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    request.fieldWrites = takeFieldsFromBody(request, accepted, writable)
    done()
  }
  return {
    ...parts,
    schema: { ...parts.schema, body: withAcceptedFields(parts.schema?.body as object, writable) },
    preHandler: [...[parts.preHandler ?? []].flat(), keepFields]
  }
}

/** Moves the fields of other modules out of the body, because the handler and its service do not know them. */
function takeFieldsFromBody(
  request: FastifyRequest,
  { action }: AcceptedFields,
  writable: readonly Field[]
): WriteFields | null {
  const body = request.body as Record<string, unknown>
  const given = writable.filter(({ field }) => field in body)
  if (given.length === 0) return null
  const names = given.map(({ field }) => field)
  request.body = Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))
  return async (tx, createdId) => {
    const id = action === 'create' ? createdId : (request.params as { id: string }).id
    for (const { field, write } of given) await write?.(tx, id, body[field])
  }
}
