// Components that all operations of the document share.

const text = { type: 'string' }

const Problem = {
  type: 'object',
  description: 'An error (RFC 9457). Some codes have additional members, which the error reference lists.',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: text,
    title: text,
    status: { type: 'integer' },
    detail: { ...text, description: 'Explanation for developers.' },
    code: { ...text, description: 'Stable identifier of the error. Decide by it, not by the texts.' },
    request_id: text,
    errors: {
      type: 'array',
      description: 'The invalid fields.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { ...text, description: 'Path of the field, such as body/items/0/quantity.' },
          message: { ...text, description: 'Message to show beside the field, such as "is required".' }
        }
      }
    }
  },
  additionalProperties: true
}

const headers = {
  ContentDisposition: { description: 'The file name for downloads.', schema: text },
  Link: {
    description: 'The next page, with the relation "next" (RFC 8288); missing on the last page.',
    schema: text
  },
  Location: { description: 'Path of the created object.', schema: text },
  ETag: { description: 'Send it as `If-None-Match` to get 304 while the response is current.', schema: text },
  VersionTag: {
    description: 'The version in quotes. Send it as `If-Match` to reject a change of a newer version.',
    schema: text
  },
  IdempotencyReplayed: {
    description: 'The response repeats that of an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] }
  },
  RequestId: { description: 'Identifies the request in the log.', schema: text },
  RetryAfter: {
    description: 'Seconds to wait before a retry, with 429, 503 and some 409.',
    schema: { type: 'integer' }
  }
}

const parameters = {
  IdempotencyKey: {
    name: 'idempotency-key',
    in: 'header',
    description: 'Makes a retry safe. For 48 hours the same key and request get the first response again.',
    schema: { type: 'string', minLength: 1, maxLength: 255 }
  },
  IfMatch: {
    name: 'if-match',
    in: 'header',
    description: 'The version to change, in quotes. 412: the object has a newer version.',
    schema: text
  },
  IfNoneMatch: {
    name: 'if-none-match',
    in: 'header',
    description: 'The ETag of a stored response. 304: it is still current.',
    schema: text
  }
}

export const openApiHeaderRef = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` })
export const openApiParameterRef = (name: keyof typeof parameters) => ({
  $ref: `#/components/parameters/${name}`
})
export const openApiResponseRef = (name: keyof typeof responses) => ({
  $ref: `#/components/responses/${name}`
})

const problem = (description: string) => ({
  description,
  headers: { 'retry-after': openApiHeaderRef('RetryAfter'), 'x-request-id': openApiHeaderRef('RequestId') },
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
})
/** What each status of an error means for a client, by the name of its response. */
const problems = {
  BadRequest: problem(
    'The request is invalid. `errors` names the fields. Correct it before you send it again.'
  ),
  Unauthorized: problem('The access token is missing, invalid or expired. Log in or refresh it.'),
  Forbidden: problem('The caller lacks the permission. Another account or a recent login is needed.'),
  NotFound: problem('The object does not exist, or the caller cannot see it.'),
  Conflict: problem('The current state does not allow the change. `code` states the reason.'),
  PreconditionFailed: problem(
    '`If-Match` names an old version. Read the object again and repeat the change.'
  ),
  PayloadTooLarge: problem('The request body is too large. `bytes_max` states the limit.'),
  UnsupportedMediaType: problem('The content type is not accepted.'),
  UnprocessableEntity: problem('The `Idempotency-Key` was used for a different request. Use a new key.'),
  TooManyRequests: problem('A rate limit is exceeded. Wait as long as `Retry-After` states.'),
  ServiceUnavailable: problem(
    'The server is overloaded, or the module is disabled. Retry after the time in `Retry-After`.'
  ),
  Problem: problem('An error. `code` identifies it, `detail` explains it.')
}
const PROBLEMS: Readonly<Record<number, keyof typeof problems>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  422: 'UnprocessableEntity',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable'
}
export const openApiProblemRef = (status: number) => openApiResponseRef(PROBLEMS[status] ?? 'Problem')

const responses = {
  NotModified: {
    description: 'The representation with the ETag of `If-None-Match` is still current.',
    headers: { etag: openApiHeaderRef('ETag') }
  },
  ...problems
}

export const openApiComponents = { schemas: { Problem }, responses, headers, parameters }
