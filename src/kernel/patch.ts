/** Whether a PATCH names nothing to change: then nothing is written, and no version raised. */
export const changesNothing = (body: object): boolean => Object.keys(body).length === 0
