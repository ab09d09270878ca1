// What the operations of a document share, and no route says.

const text = { type: 'string' }

const Problem = {
  type: 'object',
  description: 'RFC 9457. Some codes come with further members; see the page of errors.',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: text,
    title: text,
    status: { type: 'integer' },
    detail: { ...text, description: 'For developers.' },
    code: { ...text, description: 'Stable: decide by it.' },
    request_id: text,
    errors: {
      type: 'array',
      description: 'The fields that are wrong.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { ...text, description: 'Such as body/items/0/quantity.' },
          message: { ...text, description: 'For whoever filled in the field: "is required".' }
        }
      }
    }
  },
  additionalProperties: true
}

const headers = {
  ContentDisposition: { description: 'The name under which a browser saves the file.', schema: text },
  Link: {
    description: 'The next page, with the relation "next" (RFC 8288); missing on the last page.',
    schema: text
  },
  Location: { description: 'The path at which the new thing is read.', schema: text },
  ETag: { description: 'For If-None-Match.', schema: text },
  VersionTag: { description: 'The version in quotes, for If-Match.', schema: text },
  IdempotencyReplayed: {
    description: 'That this is the answer that an earlier request with the same key got.',
    schema: { type: 'string', enum: ['true'] }
  },
  RequestId: { description: 'Names this request in the log.', schema: text },
  RetryAfter: { description: 'With 429, 503 and some 409: seconds to wait.', schema: { type: 'integer' } }
}

const parameters = {
  IdempotencyKey: {
    name: 'idempotency-key',
    in: 'header',
    description: 'Makes repeating safe: the same key and request get the first answer again, for 48 hours.',
    schema: { type: 'string', minLength: 1, maxLength: 255 }
  },
  IfMatch: {
    name: 'if-match',
    in: 'header',
    description: 'The version that is to be changed, in quotes: 412 when there is another one by now.',
    schema: text
  },
  IfNoneMatch: {
    name: 'if-none-match',
    in: 'header',
    description: 'The ETag of an answer that is there already: 304 while it still holds.',
    schema: text
  }
}

export const headerRef = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` })
export const parameterRef = (name: keyof typeof parameters) => ({ $ref: `#/components/parameters/${name}` })
export const responseRef = (name: keyof typeof responses) => ({ $ref: `#/components/responses/${name}` })

const responses = {
  NotModified: {
    description: 'What If-None-Match names still holds.',
    headers: { etag: headerRef('ETag') }
  },
  Problem: {
    description: 'It was not done, and why.',
    headers: { 'retry-after': headerRef('RetryAfter'), 'x-request-id': headerRef('RequestId') },
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
  }
}

export const commonComponents = { schemas: { Problem }, responses, headers, parameters }
