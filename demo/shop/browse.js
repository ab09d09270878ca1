import { call } from './api.js'
import { el, link, page, picture } from './dom.js'
import { money } from './money.js'
import { t } from './texts.js'

/** `#/?q=…&category=…&sort=…&cursor=…`: a page of products. */
export async function browse({ query }) {
  const filters = new URLSearchParams([...query].filter(([name]) => name !== 'cursor'))
  const [tree, list] = await Promise.all([
    call('GET', '/categories'),
    call('GET', `/products?${new URLSearchParams({ limit: '24', ...Object.fromEntries(query) })}`)
  ])
  const categories = flatten(tree.items)
  const category = categories.find(({ slug }) => slug === query.get('category'))
  const q = query.get('q')
  document.getElementById('q').value = q ?? ''
  const isAll = [...filters.keys()].every(name => name === 'sort')
  const title = q === null ? (category?.name ?? t.browse.all) : t.browse.quoted(q)
  return page(
    title,
    el(
      'div',
      { class: 'filters' },
      el(
        'nav',
        { 'aria-label': t.browse.categories },
        el('ul', {}, [
          navEntry(t.browse.all, withFilter(filters, 'category', ''), category === undefined),
          ...categories.map(each =>
            navEntry(each.name, withFilter(filters, 'category', each.slug), each === category)
          )
        ])
      ),
      el(
        'label',
        {},
        `${t.browse.sort} `,
        el(
          'select',
          { onchange: event => location.assign(withFilter(filters, 'sort', event.target.value)) },
          Object.entries(t.browse.sorts).map(([value, words]) =>
            el('option', { value, selected: value === (query.get('sort') ?? 'newest') }, words)
          )
        )
      )
    ),
    list.items.length === 0
      ? el(
          'p',
          { class: 'empty' },
          ...(isAll ? [t.browse.empty] : [t.browse.nothingFound, ' ', link('#/', t.browse.showAll)])
        )
      : el('ul', { class: 'products' }, list.items.map(productCard)),
    el(
      'nav',
      { class: 'pages', 'aria-label': t.browse.pages },
      query.has('cursor') && link(`#/?${filters}`, t.browse.firstPage),
      list.next_cursor !== null && link(withFilter(filters, 'cursor', list.next_cursor), t.browse.nextPage)
    )
  )
}

const flatten = nodes => nodes.flatMap(node => [node, ...flatten(node.children)])
const navEntry = (name, href, isCurrent) =>
  el('li', {}, el('a', { href, 'aria-current': isCurrent && 'page' }, name))

function withFilter(filters, name, value) {
  const changed = new URLSearchParams(filters)
  if (value === '') changed.delete(name)
  else changed.set(name, value)
  return `#/?${changed}`
}

const productCard = ({
  slug,
  name,
  brand,
  image_url,
  price,
  discounted_price,
  currency,
  variant_count,
  in_stock
}) =>
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
          ? t.browse.notSold
          : [variant_count > 1 && t.browse.from, ...priceOf(price, discounted_price, currency)]
      ),
      !in_stock && price !== null && el('span', { class: 'soft' }, t.browse.soldOut)
    )
  )

/** The current price. With a discount, the price without it is shown before, struck through. */
export function priceOf(price, discounted, currency) {
  const now = el('strong', {}, money(discounted, currency))
  if (discounted === price) return [now]
  return [el('s', {}, el('span', { class: 'hidden' }, t.browse.before), money(price, currency)), ' ', now]
}
