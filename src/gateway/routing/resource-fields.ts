import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import {
  type AcceptingObjects,
  acceptingObjectsIn,
  findResourcesIn,
  type ShownFields,
  type VisitResources,
  withAcceptedFields,
  withShownFields
} from '../../kernel/resource-schemas.ts'
import type { ReadableField, ReadResourceFields } from '../../kernel/resources.ts'
import type { IdempotentWriteRequest } from '../../platform/idempotency/write.ts'
import type { Transaction } from '../../platform/postgres/database.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Writes the fields of other modules in the transaction of the request; `null` when it contains none. */
    fieldWrites: WriteFields | null
  }
}
type WriteFields = NonNullable<IdempotentWriteRequest['writeFields']>

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

type Body = Readonly<Record<string, unknown>>
/** Objects of a body, with the fields that a request can write. */
type WritableFields = AcceptingObjects & { readonly fields: readonly Field[] }

function withFieldsOfRequest<P extends Parts>(parts: P, fieldsOf: FieldsOf): P {
  const accepting = acceptingObjectsIn(parts.schema?.body)
    .map(objects => ({ ...objects, fields: writableFieldsOf(fieldsOf(objects.resource, 'any')) }))
    .filter(({ fields }) => fields.length > 0)
  if (accepting.length === 0) return parts
  const keepFields = (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    request.fieldWrites = takeFieldsFromBody(request, accepting)
    done()
  }
  return {
    ...parts,
    schema: {
      ...parts.schema,
      body: accepting.reduce(
        (body, { fields, list }) => withAcceptedFields(body, fields, list),
        parts.schema?.body as object
      )
    },
    preHandler: [...[parts.preHandler ?? []].flat(), keepFields]
  }
}

/** A field for several audiences is written once. */
const writableFieldsOf = (fields: readonly Field[]): Field[] => [
  ...new Map(fields.filter(({ write }) => write !== undefined).map(each => [each.field, each])).values()
]

/** Moves the fields of other modules out of the body, because the handler and its service do not know them. */
function takeFieldsFromBody(
  request: FastifyRequest,
  accepting: readonly WritableFields[]
): WriteFields | null {
  const writes: WriteFields[] = []
  let body = request.body as Body
  for (const { action, list, fields } of accepting) {
    const objects = list === undefined ? [body] : ((body[list] ?? []) as Body[])
    const taken = objects.map(object => takeFields(object, fields))
    if (taken.every(({ given }) => given.length === 0)) continue
    const rests = taken.map(({ rest }) => rest)
    body = list === undefined ? (rests[0] as Body) : { ...body, [list]: rests }
    writes.push(async (tx, created) => {
      for (const [index, { given }] of taken.entries()) {
        const id = action === 'create' ? created(list, index) : (request.params as { id: string }).id
        for (const { write, value } of given) await write?.(tx, id, value)
      }
    })
  }
  request.body = body
  if (writes.length === 0) return null
  return async (tx, created) => {
    for (const write of writes) await write(tx, created)
  }
}

function takeFields(object: Body, fields: readonly Field[]) {
  const given = fields
    .filter(({ field }) => field in object)
    .map(({ field, write }) => ({ write, value: object[field], field }))
  const names = given.map(({ field }) => field)
  const rest = Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
  return { given, rest: names.length === 0 ? object : rest }
}
