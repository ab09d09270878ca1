/**
 * Whether Accept-Encoding allows gzip (RFC 9110, 12.5.3): gzip has a weight, by name or by `*`, and `identity` is not
 * preferred.
 */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false
  const weights = new Map(acceptEncoding.toLowerCase().split(',').map(weightOf))
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0
  return gzip > 0 && gzip >= (weights.get('identity') ?? 0)
}

function weightOf(coding: string): [string, number] {
  const [name = '', ...parameters] = coding.split(';').map(part => part.trim())
  const weight = parameters.find(parameter => /^q\s*=/.test(parameter))
  // A weight that is not a number counts as 0.
  return [name, weight === undefined ? 1 : Number(weight.slice(weight.indexOf('=') + 1)) || 0]
}

/**
 * Whether If-None-Match matches `entityTag`, alone, in a list, or by `*` (RFC 9110, 13.1.2). The comparison is weak
 * (8.8.3.2).
 */
export const matchesIfNoneMatch = (ifNoneMatch: string, entityTag: string): boolean =>
  ifNoneMatch === entityTag ||
  ifNoneMatch.split(',').some(each => {
    const tag = each.trim()
    return tag === '*' || tag === entityTag || tag === `W/${entityTag}`
  })
