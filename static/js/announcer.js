// Announces events to screen readers in complete sentences; streaming text is not announced.

const AGAIN = 10_000;

export class Announcer {
  #place;
  #timer = 0;

  constructor(place) {
    this.#place = place;
  }

  started() {
    clearInterval(this.#timer);
    this.say("Gemini is answering.");
    this.#timer = setInterval(() => this.say(`Still answering, ${new Date().toLocaleTimeString()}.`), AGAIN);
  }

  // `questions` of a run that waits for its person: nothing is answered meanwhile. It goes on without any.
  waits(questions) {
    if (!questions.length) return this.started();
    clearInterval(this.#timer);
    this.say(`Waiting for you. ${questions.join(" ")}`);
  }

  finished(status, words) {
    clearInterval(this.#timer);
    const ends = { completed: `Answer finished, ${words} words.`, stopped: "Stopped.", failed: "The answer failed." };
    this.say(ends[status] ?? "The answer was interrupted.");
  }

  // It ended while nothing was heard of it; the page shows how.
  ended() {
    clearInterval(this.#timer);
    this.say("The answer has ended.");
  }

  // Nothing is heard of the answer, so nothing is said of it.
  pause() {
    clearInterval(this.#timer);
    this.say("");
  }

  say(sentence) {
    this.#place.textContent = sentence;
  }
}
