import type { IncomingMessage, ServerResponse } from 'node:http'
import { SandboxApiError } from './engine.ts'

const BODY_BYTES_MAX = 65_536

export function sendSandboxJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: object = {}
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export async function readSandboxRequestBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX)
      throw new SandboxApiError(413, 'invalid_request_error', 'too_large', 'The body is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

export function sendSandboxHtml(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store'
  })
  response.end(html)
}
