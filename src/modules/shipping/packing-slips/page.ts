import type { PackingSlip, PackingSlipsQuery } from './schema.ts'

const escaped = (text: string) => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
const STYLE = `body { font: 12pt sans-serif } section { break-after: page; padding: 1em }
address { font-style: normal; margin: 1em 0 } table { border-collapse: collapse; width: 100% }
td, th { border-bottom: 1px solid; padding: .3em; text-align: left } .n { text-align: right }`

/** Renders a page to print: a sheet per parcel, and a note when more follow. It contains no scripts. */
export const renderPackingSlipsPage = (slips: readonly PackingSlip[], next: string | null): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Packing slips</title><style>${STYLE}</style>${slips
    .map(renderSheet)
    .join('')}${next === null ? '' : renderMore(slips.length, next)}</html>`

const renderMore = (count: number, next: string): string =>
  `<section><h1>More parcels follow</h1><p>This page has ${count} parcels. Print the next ones with <code>?cursor=${escaped(next)}</code></p></section>`

function renderSheet({ order_number, address, lines, ...slip }: PackingSlip): string {
  const place = address && [
    ...[address.name, address.company, address.line1, address.line2],
    [address.postal_code, address.city].filter(Boolean).join(' '),
    ...[address.region, address.country, address.phone]
  ]
  const rows = lines.map(
    ({ quantity, sku, name, variant_name, metadata }) =>
      `<tr><td class="n">${quantity}</td><td>${escaped(sku ?? '')}</td><td>${[
        [name, variant_name].filter(Boolean).join(', '),
        ...Object.entries(metadata).map(([key, value]) => `${key}: ${value}`)
      ]
        .map(escaped)
        .join('<br>')}</td><td>&#9744;</td></tr>`
  )
  const head = [slip.service, slip.carrier, slip.tracking_number].filter(text => text !== null)
  return `<section><h1>${escaped(order_number ?? slip.order_id)}</h1><p>${head.map(escaped).join(' &middot; ')}</p>
<address>${(place ?? []).flatMap(text => (text ? [escaped(text)] : [])).join('<br>')}</address>
<table><tr><th class="n">Quantity</th><th>SKU</th><th>Item</th><th></th></tr>${rows.join('')}</table></section>`
}

/** The Link header to the next page (RFC 8288). The last page has none. */
export const nextPackingSlipsPageLinkHeader = (
  query: PackingSlipsQuery,
  next: string | null
): { link?: string } =>
  next === null
    ? {}
    : {
        link: `</api/admin/shipping/packing-slips?${new URLSearchParams({ ...query, cursor: next })}>; rel="next"`
      }
