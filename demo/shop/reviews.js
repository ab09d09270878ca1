import { call } from './api.js'
import { disableWhile, el, link, problemElement, showProblem } from './dom.js'
import { errorTexts } from './errors.js'
import { done, field, form } from './forms.js'
import { callAsCustomer, isLoggedIn } from './session.js'
import { formatDate, locale, t } from './texts.js'

/** The reviews of a product, and the form for the review of the customer. `rating` has the average and the number of reviews. */
export async function reviewsOf(slug, rating) {
  const path = `/products/${encodeURIComponent(slug)}/reviews`
  const list = el('ul', { class: 'reviews' })
  const more = el('p')
  const average = el('p', { class: 'soft' })
  const problem = problemElement()

  const showAverage = ({ average: stars, count }) => {
    average.textContent =
      count === 0 ? t.reviews.none : t.reviews.average(stars.toLocaleString(locale), count)
  }
  /** Shows the first page of the list, or appends the page after the cursor. */
  async function show(cursor) {
    const query = new URLSearchParams({ limit: '5', ...(cursor && { cursor }) })
    const { items, next_cursor } = await call('GET', `${path}?${query}`)
    if (cursor === undefined) list.replaceChildren()
    list.append(...items.map(review))
    more.replaceChildren(
      ...(next_cursor === null ? [] : [action(t.reviews.more, () => show(next_cursor), problem)])
    )
  }
  async function showAgain() {
    showAverage(await call('GET', `${path}/rating`))
    await show()
  }

  showAverage(rating)
  // The product is shown even when its reviews cannot be read.
  await show().catch(error => showProblem(problem, ...errorTexts(error)))
  const own = isLoggedIn() ? ownReview(path, showAgain) : logInLink(slug)
  return el('section', {}, el('h2', {}, t.reviews.title), average, list, more, problem, own)
}

/** A button whose problems are shown in `problem`. */
function action(label, work, problem) {
  const run = () => {
    showProblem(problem)
    return disableWhile(button, () => work().catch(error => showProblem(problem, ...errorTexts(error))))
  }
  const button = el('button', { onclick: run }, label)
  return button
}

const logInLink = slug => el('p', {}, link(`#/log-in/products/${encodeURIComponent(slug)}`, t.reviews.logIn))

/** One review. `el` inserts its texts as plain text. */
const review = ({ rating, title, body, author, verified_purchase, reply, created_at }) =>
  el(
    'li',
    {},
    el(
      'p',
      { class: 'stars', role: 'img', 'aria-label': t.reviews.stars(rating) },
      '★'.repeat(rating),
      '☆'.repeat(5 - rating)
    ),
    title && el('h3', {}, title),
    body && el('p', { class: 'written' }, body),
    el(
      'p',
      { class: 'soft' },
      [author ?? t.reviews.anonymous, formatDate(created_at), verified_purchase && t.reviews.verified]
        .filter(Boolean)
        .join(' · ')
    ),
    reply &&
      el(
        'blockquote',
        {},
        el('p', { class: 'soft' }, t.reviews.reply),
        el('p', { class: 'written' }, reply.body)
      )
  )

/** A customer has one review per product: the form creates or replaces it. `onChange` is called after a change. */
function ownReview(path, onChange) {
  const place = el('div')
  const problem = problemElement()
  function show(own, ...before) {
    place.replaceChildren(...[...before, ...reviewForm(own), problem].filter(Boolean))
    before[0]?.focus()
  }
  async function open() {
    const own = await callAsCustomer('GET', `${path}/mine`).catch(error => {
      if (error.code !== 'REVIEW_NOT_FOUND') throw error
      return undefined
    })
    show(own)
    place.querySelector('select').focus()
  }
  async function remove() {
    await callAsCustomer('DELETE', path)
    show(undefined, done(t.reviews.removed))
    await onChange()
  }
  const reviewForm = own => [
    own?.status === 'rejected' && el('p', { class: 'finding' }, t.reviews.rejected(own.reason)),
    form({
      fields: [
        field('rating', t.reviews.rating, {}, starChoice(own?.rating ?? 5)),
        field('title', t.reviews.headline, { maxlength: 150, value: own?.title }),
        field('body', t.reviews.body, {}, el('textarea', { rows: 4, maxlength: 5000 }, own?.body ?? '')),
        field('author', t.reviews.author, { maxlength: 80, value: own?.author, autocomplete: 'nickname' })
      ],
      button: t.reviews.publish,
      send: async ({ rating, ...texts }) => {
        const written = Object.entries(texts).filter(([, text]) => text.trim() !== '')
        const body = { rating: Number(rating), ...Object.fromEntries(written) }
        const answer = await callAsCustomer(own === undefined ? 'POST' : 'PUT', path, { body })
        show(answer, done(t.reviews[answer.status === 'published' ? 'published' : 'pending']))
        await onChange()
      }
    }),
    own !== undefined && action(t.reviews.remove, remove, problem)
  ]
  place.append(action(t.reviews.write, open, problem), problem)
  return place
}

const starChoice = chosen =>
  el(
    'select',
    {},
    [5, 4, 3, 2, 1].map(rating =>
      el('option', { value: rating, selected: rating === chosen }, t.reviews.stars(rating))
    )
  )
