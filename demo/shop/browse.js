import { call } from './api.js'
import { el, link, page, picture } from './dom.js'
import { money } from './money.js'

const SORTS = { newest: 'Newest', name: 'Name', price: 'Cheapest first', '-price': 'Dearest first' }
const NOTHING_YET = 'Nothing is sold here yet. Products come by an import, or by the API.'

/** `#/?q=…&category=…&sort=…&cursor=…`: products, page by page. */
export async function browse({ query }) {
  const filters = new URLSearchParams([...query].filter(([name]) => name !== 'cursor'))
  const [tree, list] = await Promise.all([
    call('GET', '/categories'),
    call('GET', `/products?${new URLSearchParams({ limit: '24', ...Object.fromEntries(query) })}`)
  ])
  const categories = flat(tree.items)
  const category = categories.find(({ slug }) => slug === query.get('category'))
  const q = query.get('q')
  document.getElementById('q').value = q ?? ''
  const isAll = [...filters.keys()].every(name => name === 'sort')
  const title = q === null ? (category?.name ?? 'Everything') : `“${q}”`
  return page(
    title,
    el(
      'div',
      { class: 'filters' },
      el(
        'nav',
        { 'aria-label': 'Categories' },
        el('ul', {}, [
          entry('Everything', withFilter(filters, 'category', ''), category === undefined),
          ...categories.map(each =>
            entry(each.name, withFilter(filters, 'category', each.slug), each === category)
          )
        ])
      ),
      el(
        'label',
        {},
        'Sort by ',
        el(
          'select',
          { onchange: event => location.assign(withFilter(filters, 'sort', event.target.value)) },
          Object.entries(SORTS).map(([value, words]) =>
            el('option', { value, selected: value === (query.get('sort') ?? 'newest') }, words)
          )
        )
      )
    ),
    list.items.length === 0
      ? el(
          'p',
          { class: 'empty' },
          ...(isAll ? [NOTHING_YET] : ['Nothing was found. ', link('#/', 'Show everything')])
        )
      : el('ul', { class: 'products' }, list.items.map(card)),
    el(
      'nav',
      { class: 'pages', 'aria-label': 'Pages' },
      query.has('cursor') && link(`#/?${filters}`, 'First page'),
      list.next_cursor !== null && link(withFilter(filters, 'cursor', list.next_cursor), 'Next page')
    )
  )
}

const flat = nodes => nodes.flatMap(node => [node, ...flat(node.children)])
const entry = (name, href, isCurrent) =>
  el('li', {}, el('a', { href, 'aria-current': isCurrent && 'page' }, name))

function withFilter(filters, name, value) {
  const changed = new URLSearchParams(filters)
  if (value === '') changed.delete(name)
  else changed.set(name, value)
  return `#/?${changed}`
}

const card = ({ slug, name, brand, image_url, price, discounted_price, currency, variant_count, in_stock }) =>
  el(
    'li',
    {},
    link(
      `#/products/${encodeURIComponent(slug)}`,
      picture(image_url),
      el('span', { class: 'name' }, name),
      el('span', { class: 'soft' }, brand ?? ''),
      el(
        'span',
        { class: 'price' },
        price === null
          ? 'Not sold here'
          : [variant_count > 1 && 'from ', ...priceOf(price, discounted_price, currency)]
      ),
      !in_stock && price !== null && el('span', { class: 'soft' }, 'Sold out')
    )
  )

/** What it costs now, and before that what it costs ordinarily. */
export function priceOf(price, discounted, currency) {
  const now = el('strong', {}, money(discounted, currency))
  if (discounted === price) return [now]
  return [el('s', {}, el('span', { class: 'hidden' }, 'before '), money(price, currency)), ' ', now]
}
