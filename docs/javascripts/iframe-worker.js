/* Browsers start no worker where pages are opened as files; the search's worker then runs in a frame.
   (The generator looks for "iframe-worker" in this file's name; without it, it would load one from another host.) */
class FrameWorker extends EventTarget {
  #frame = document.createElement("iframe");
  #inside;
  #ready;

  constructor(address) {
    super();
    this.#frame.hidden = true;
    document.body.append(this.#frame);
    this.#inside = this.#frame.contentWindow;
    const page = this.#inside.document;
    page.open();
    page.write("<!doctype html><body>");
    page.close();
    this.#inside.postMessage = (data) => {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      this.onmessage?.(event);
    };
    const script = page.createElement("script");
    script.src = address;
    this.#ready = new Promise((done) => script.addEventListener("load", done));
    page.body.append(script);
  }

  async postMessage(data) {
    await this.#ready;
    this.#inside.dispatchEvent(new MessageEvent("message", { data }));
  }

  terminate() {
    this.#frame.remove();
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker;
