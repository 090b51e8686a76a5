"""The conformance kit for clients: a scripted server and the checks of what a client sent to it and reported."""
