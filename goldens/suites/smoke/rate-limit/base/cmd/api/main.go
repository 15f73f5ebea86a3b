package main

import (
	"log"
	"net/http"
	"time"

	"example.com/status/api"
)

func main() {
	server := &http.Server{Addr: ":8080", Handler: api.NewServer(), ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}
