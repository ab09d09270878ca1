import { call, newKey } from './api.js'
import { PREFIX, refreshToken, sentOrderRequest, storedCheckout } from './storage.js'

/** An access token is replaced this long before it expires, so that it does not expire during a request. */
const EARLY_MS = 30_000

/** Thrown when a page needs a customer and the browser has no session. `main.js` shows the login instead of the page. */
export class LoginRequired extends Error {}

/** `{ token, until }`: the access token, in memory only. A reloaded page gets a new one. */
let access
let refreshing

export const isLoggedIn = () => refreshToken.get() !== undefined

export const logIn = async account => startSession(await call('POST', '/auth/login', { body: account }))
export const submitSecondFactor = async body =>
  startSession(await call('POST', '/auth/login/second-factor', { body }))

/** Returns whether the customer is logged in now. A shop can require a verified address first. */
export async function register(account) {
  const answer = await call('POST', '/auth/register', { body: account })
  if (answer.refresh_token !== undefined) startSession(answer)
  return isLoggedIn()
}

/** Ends the session at the shop, too. Without a response the session is kept, because its tokens are still valid. */
export async function logOut() {
  await callAsCustomer('POST', '/auth/logout').catch(ignoreLoginRequired)
  forgetSession()
}

/** Sends a request as the customer. A rejected access token is replaced once. */
export async function callAsCustomer(method, path, { key = newKey(), headers, body } = {}) {
  const send = async () => {
    const authorization = `Bearer ${await accessToken()}`
    return call(method, path, { key, body, headers: { ...headers, authorization } })
  }
  try {
    return await send()
  } catch (error) {
    if (error.code !== 'AUTH_INVALID_TOKEN') throw error
    access = undefined
    return send()
  }
}

/** Also deletes an unanswered order request, which must not be sent again as another customer. */
export function forgetSession() {
  access = undefined
  refreshToken.clear()
  storedCheckout.clear()
  if (sentOrderRequest.get()?.path === '/orders') sentOrderRequest.clear()
}

export function ignoreLoginRequired(error) {
  if (!(error instanceof LoginRequired)) throw error
}

function startSession(tokens) {
  // Cleared first, so that other tabs with another customer get an event and reload.
  refreshToken.clear()
  refreshToken.set(tokens.refresh_token)
  setAccessToken(tokens)
}

function setAccessToken({ access_token, expires_in }) {
  access = { token: access_token, until: Date.now() + expires_in * 1_000 - EARLY_MS }
}

async function accessToken() {
  if (access === undefined || access.until < Date.now()) {
    refreshing ??= oneTabAtATime(refresh).finally(() => {
      refreshing = undefined
    })
    await refreshing
  }
  return access.token
}

async function refresh() {
  const sent = refreshToken.get()
  if (sent === undefined) throw new LoginRequired()
  const tokens = await call('POST', '/auth/refresh', { body: { refresh_token: sent } }).catch(error => {
    if (error.status !== 401) throw error
  })
  // Another tab has refreshed the token, logged in or logged out meanwhile.
  if (refreshToken.get() !== sent) return refresh()
  if (tokens === undefined) {
    forgetSession()
    throw new LoginRequired()
  }
  refreshToken.set(tokens.refresh_token)
  setAccessToken(tokens)
}

/**
 * Serializes refreshes of all tabs, because each replaces their common refresh token. Pages loaded by plain HTTP from another
 * machine have no locks; for them the API accepts an old refresh token for 20 more seconds.
 */
const oneTabAtATime = work =>
  navigator.locks === undefined ? work() : navigator.locks.request(`${PREFIX}refresh`, work)

// Reloads when another tab logs in or out. A refresh replaces one token by another and needs no reload.
addEventListener('storage', ({ key, oldValue, newValue }) => {
  if (key === `${PREFIX}refresh` && (oldValue === null || newValue === null)) location.reload()
})

// A page from the back/forward cache has missed storage events.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})
